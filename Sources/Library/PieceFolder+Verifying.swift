import EventLoop
import Fetching
import Store

extension PieceFolder {
    /// Whether a playlist of the bundle lies beside the pieces.
    var hasPlaylist: Bool { (try? directory(create: false))?.directory.size(of: "media.m3u8") != nil }

    /// Reads the pieces against what is known of them; those that are wrong are absent from then on.
    ///
    /// - Throws: `StoreError` when the folder cannot be read; not where there is none.
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
        // What others have put here.
        if result.sound.keys.contains(where: { !contains($0) && directory.directory.size(of: $0) != nil }) { reread() }
    }

    /// Forgets a piece that is not there; not one that has come in its place.
    private func leave(_ file: String, _ directory: PieceDirectory) {
        if directory.directory.size(of: file) == nil { went(file) }
    }
}
