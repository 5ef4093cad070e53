import Store

/// How a fetch whose bytes are all there becomes a piece.
extension Fetch {
    /// Makes a piece of the file, if it is to be one, and ends: at once, or when the disk has taken what was gathered.
    func land() {
        guard let folder, keepFailure == nil else { return end(.success(())) }
        guard !folder.isHeld else { return wait(for: folder) }
        guard let committer, let gathered = file.handOver() else {
            keep(in: folder)
            return end(.success(()))
        }
        (transfer, isBeingKept) = (nil, true)
        silence = nil
        folder.commit(gathered, as: resource.name.description, by: committer) { [self] failure in
            isBeingKept = false
            // It may have been forgone meanwhile.
            if self.folder != nil { noteKept(failure) }
            end(.success(()))
        }
        if isBeingKept, committer.hasRoom { arrive() }
    }

    /// The bundle is about to lie elsewhere, in a moment.
    private func wait(for folder: PieceFolder) {
        (transfer, isBeingKept) = (nil, true)
        silence = nil
        folder.whenFree { [self] in
            isBeingKept = false
            land()
        }
    }

    private func keep(in folder: PieceFolder) {
        do {
            try folder.commit(file, as: resource.name.description)
            noteKept(nil)
        } catch {
            noteKept(error)
        }
    }
}
