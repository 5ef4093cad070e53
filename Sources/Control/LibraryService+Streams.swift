import API
import EventLoop
import HTTPMessage
import Library

/// Streams that the user has written down, and of which the library has nothing yet.
extension LibraryService {
    /// They as assets that are known only.
    var knownOnly: [API.Asset] { library.unopenedStreams.map(shape) }

    /// One of them, as `knownOnly` has it; nil where there is none of that name.
    func knownOnly(named name: String) -> API.Asset? {
        library.stream(named: name).flatMap { library.asset(at: $0.url) == nil ? shape($0) : nil }
    }

    /// The asset that a stream's name leads to, though it is called otherwise.
    func asset(ofStream name: String) -> Asset? { library.stream(named: name).flatMap { library.asset(at: $0.url) } }

    /// Throws for a stream of this name: what is asked is about something that is not here.
    func refuse(stream name: String) throws(APIError) {
        guard library.stream(named: name) != nil else { return }
        throw APIError(
            .noSuchAsset, "\(name) is in the list of streams, and nothing of it is here",
            next: "weir get \(name), or take it out of the list with an editor")
    }

    private func shape(_ stream: KnownStream) -> API.Asset {
        var shape = API.Asset(name: stream.name, id: stream.name, title: stream.title, url: stream.url.redacted)
        shape.isKnownOnly = true
        return shape
    }
}
