public import EventLoop

/// The places where a fetch can get its resource after the first one failed: mirrors, and freshly signed URLs.
///
/// The room that knows playlists implements it; a fetch owns one instance.
@LoopActor public protocol AlternateSources: AnyObject {
    /// True if the resource is a segment encrypted as a whole, in blocks (AES-128 with CBC).
    var isEncryptedInBlocks: Bool { get }
    /// True if another source is known, so that the fetch need not insist on the present one.
    var hasUntried: Bool { get }
    /// Forgets the failures so far. The fetch starts again at `location`.
    func reset(_ location: Resource)
    /// Notes that bytes arrived, so that a URL that is refused later may be renewed again.
    func recordArrival()
    /// Finds the next source after one failed; nil if there is none.
    func next(after error: FetchError) async -> Resource?
}
