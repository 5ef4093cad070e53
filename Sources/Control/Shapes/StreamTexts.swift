import Assets
import EventLoop
import HTTPMessage
import WeirAPI

/// Caches the JSON of the entries of the streams file. Another thread writes it: a channel list has thousands of entries, and the
/// loop must serve players.
@LoopActor final class StreamTexts {
    struct Text: Sendable {
        let stream: KnownStream
        let text: [UInt8]
    }

    private var streams: [KnownStream] = []
    private var latest: Task<Result<[Text], APIError>, Never>?

    /// The texts in the order of the streams' names.
    func texts(of streams: [KnownStream]) async throws(APIError) -> [Text] {
        // The comparison is quick, because an unchanged list is the same array.
        if let latest, self.streams == streams {
            return try await latest.value.get()
        }
        let task = Task.detached { Self.written(streams) }
        self.streams = streams
        latest = task
        return try await task.value.get()
    }

    private nonisolated static func written(_ streams: [KnownStream]) -> Result<[Text], APIError> {
        var texts: [Text] = []
        texts.reserveCapacity(streams.count)
        do throws(APIError) {
            for stream in streams.sorted(by: { $0.name < $1.name }) {
                texts.append(Text(stream: stream, text: try API.encode(shape(stream))))
            }
        } catch {
            return .failure(error)
        }
        return .success(texts)
    }

    /// The list entry of a stream of which nothing is stored.
    nonisolated static func shape(_ stream: KnownStream) -> API.Asset {
        var shape = API.Asset(name: stream.name, id: stream.name, title: stream.title, url: stream.url.redacted)
        shape.isKnownOnly = true
        shape.logo = stream.logo
        shape.group = stream.group
        shape.list = stream.list
        return shape
    }
}
