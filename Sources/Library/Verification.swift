public import EventLoop
import Fetching
public import Store

/// The reading of all that is stored of an asset: how far it is, and what it has found.
@LoopActor public final class Verification {
    /// What is read.
    public let asset: Asset
    /// How fast, and whether at all.
    public let pace: ReadingPace
    /// The bytes that there were to read when it began.
    public let totalBytes: Int64
    /// What was wrong, by folder and file.
    public private(set) var faults: [String: [String: PieceFault]] = [:]
    /// Whether all was read.
    public internal(set) var isComplete = false

    init(of asset: Asset, at pace: ReadingPace) {
        (self.asset, self.pace) = (asset, pace)
        totalBytes = asset.bytes
    }

    /// How many pieces were wrong.
    public var faultCount: Int { faults.values.reduce(0) { $0 + $1.count } }

    /// Takes note of a piece that is wrong.
    func note(_ fault: PieceFault, of file: String, in folder: PieceFolder) {
        faults[folder.id, default: [:]][file] = fault
    }
}
