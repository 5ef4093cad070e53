import EventLoop
import Store

/// A place where an asset is published. Whoever asks, asks for one thing after the other.
@LoopActor protocol PublicationSite: AnyObject {
    /// Where it is, for messages; no secrets.
    nonisolated var place: String { get }

    /// Looks at what is there, and lets nobody else publish there meanwhile, as far as the place allows that.
    func look() async throws(LibraryError) -> PublicationFinding

    /// Puts files there, those aside that are there already as they should be. Each is there whole or not at all.
    ///
    /// - Parameter done: called for each file that is there, with whether it was sent.
    func put(
        _ items: [ExportContents.Item], done: @escaping @LoopActor (ExportContents.Item, _ isSent: Bool) -> Void
    ) async throws(LibraryError)

    /// Deletes files that an earlier publication has put there; and, where that is safe, folders that are empty then.
    func delete(_ paths: [String]) async throws(LibraryError)

    /// Ends what is under way as soon as that can be; it throws `cancelled` then.
    func cancel()
}

/// What is found at a place.
struct PublicationFinding: Sendable {
    /// Whether nothing at all is there.
    let isEmpty: Bool
    /// The text of `weir-published.txt`; nil where there is none.
    let record: [UInt8]?
}
