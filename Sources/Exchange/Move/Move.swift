public import EventLoop
public import Library
public import Store

/// One move of an asset's bundle to another volume: its target and its progress.
@LoopActor public final class Move {
    /// The asset that is moved.
    public let asset: Asset
    /// The folder on the target volume; nil for the store's own folder.
    public let path: String?
    /// Counts the bytes that are copied, and cancels the copying.
    public let pace: ReadingPace
    /// The number of bytes to copy, as known at the start.
    public let totalBytes: Int64
    /// The state; unless it is `done`, the bundle stays where it was.
    public internal(set) var state = JobState.running
    /// The reason of a failure.
    public internal(set) var failure: ExchangeError?
    /// The number of damaged pieces, which are not moved.
    public internal(set) var leftOut = 0
    /// Resumed at the end of the move.
    var waiting: [CheckedContinuation<Void, Never>] = []

    init(of asset: Asset, to path: String?, at pace: ReadingPace) {
        (self.asset, self.path, self.pace) = (asset, path, pace)
        totalBytes = asset.bytes
    }

    /// Cancels the move: the bundle stays where it was, and the copy is deleted.
    public func cancel() {
        if state == .running { pace.cancel() }
    }
}

/// The latest move of each asset in this process, by asset id.
///
/// Made before the library, which asks it whether an asset is being moved.
@LoopActor public final class MoveRegister: MoveStatus {
    private var byAsset: [String: Move] = [:]

    /// Makes an empty register.
    public init() {}

    /// The latest move of an asset, running or ended; nil if there is none.
    func move(of asset: Asset) -> Move? { byAsset[asset.id].flatMap { $0.asset === asset ? $0 : nil } }

    func insert(_ move: Move) { byAsset[move.asset.id] = move }

    /// See `MoveStatus`.
    public func isMoving(_ asset: Asset) -> Bool { move(of: asset)?.state == .running }

    /// See `MoveStatus`.
    public func waitForMove(of asset: Asset) async {
        guard let move = move(of: asset), move.state == .running else { return }
        await withCheckedContinuation { move.waiting.append($0) }
    }

    /// See `MoveStatus`.
    public func forget(_ asset: Asset) {
        move(of: asset)?.cancel()
        byAsset[asset.id] = nil
    }
}
