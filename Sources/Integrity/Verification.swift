public import EventLoop
import Fetching
public import Library
public import Store

/// A verification of all stored pieces of an asset: its progress and its findings.
@LoopActor public final class Verification {
    /// The asset.
    public let asset: Asset
    /// Limits, pauses and cancels the reading, and counts the bytes read.
    public let pace: ReadingPace
    /// Bytes stored at the beginning.
    public let totalBytes: Int64
    /// The faults by folder and file.
    public private(set) var faults: [String: [String: PieceFault]] = [:]
    /// True once everything is read.
    public internal(set) var isComplete = false

    init(of asset: Asset, at pace: ReadingPace) {
        (self.asset, self.pace) = (asset, pace)
        totalBytes = asset.bytes
    }

    /// Number of damaged pieces.
    public var faultCount: Int { faults.values.reduce(0) { $0 + $1.count } }

    func note(_ fault: PieceFault, of file: String, in folder: PieceFolder) {
        faults[folder.id, default: [:]][file] = fault
    }
}

extension PieceFolder {
    /// Reads the pieces and compares them with the ledger. Damaged pieces become holes.
    ///
    /// - Throws: `StoreError` if the folder exists and cannot be read.
    func verify(_ verification: Verification, by store: Store) async throws(StoreError) {
        _ = sizes
        guard let directory = try? directory(create: false) else { return }
        let result = try await store.verify(
            directory, at: verification.pace, where: { PieceName($0) != nil },
            found: { [weak self, weak verification] file, fault in
                Task { @LoopActor in
                    guard let self else { return }
                    verification?.note(fault, of: file, in: self)
                    self.leave(file, directory)
                }
            })
        for (file, fault) in result.faults {
            verification.note(fault, of: file, in: self)
            leave(file, directory)
        }
        guard result.isComplete else { return }
        for file in sizes.keys where result.sound[file] == nil { leave(file, directory) }
        // Other programs may have added pieces.
        if result.sound.keys.contains(where: { !contains($0) && directory.directory.size(of: $0) != nil }) { reread() }
    }

    /// Forgets a piece whose file is gone, unless a new piece was stored in its place.
    private func leave(_ file: String, _ directory: PieceDirectory) {
        if directory.directory.size(of: file) == nil { removeFromList(file) }
    }
}
