public import EventLoop
public import Store

/// The moving of an asset's bundle to another disk: where to, and how far it is.
@LoopActor public final class Move {
    /// What is moved.
    public let asset: Asset
    /// The folder that it is to lie in; nil for the store's own.
    public let path: String?
    /// How much was copied, and whether it goes on.
    public let pace: ReadingPace
    /// The bytes that there were to copy when it began.
    public let totalBytes: Int64
    /// Where it is; where that is not `done`, the bundle lies where it was.
    public internal(set) var state = JobState.running
    /// What kept it from its end.
    public internal(set) var failure: LibraryError?
    /// How many pieces were not what had come, and did not come along.
    public internal(set) var leftOut = 0
    /// Resumed when it has ended.
    var waiting: [CheckedContinuation<Void, Never>] = []

    init(of asset: Asset, to path: String?, at pace: ReadingPace) {
        (self.asset, self.path, self.pace) = (asset, path, pace)
        totalBytes = asset.bytes
    }
}
