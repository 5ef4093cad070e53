/// What the store does on a thread of its own, in the order in which it is asked for.
extension Store {
    /// A file, and the piece that it is to become.
    public struct Commit: Sendable {
        let file: GatheredFile
        let folder: PieceDirectory
        let target: String

        /// To become the piece `target` in `folder`.
        public init(_ file: GatheredFile, to folder: PieceDirectory, as target: String) {
            (self.file, self.folder, self.target) = (file, folder, target)
        }
    }

    /// Makes pieces of files.
    ///
    /// - Parameter ended: called on the store's thread once all are done, with what went wrong with each; nil for one
    ///   that is a piece now.
    public func commit(_ commits: [Commit], ended: @escaping @Sendable ([StoreError?]) -> Void) {
        guard let worker else { return ended(commits.map { _ in readOnlyReason }) }
        worker.submit {
            ended(
                commits.map { commit in
                    do throws(StoreError) {
                        try commit.file.commit(to: commit.folder, as: commit.target)
                        return nil
                    } catch {
                        return error
                    }
                })
        }
    }

    /// Waits until everything is done that `commit` was asked for before.
    public func settle() async {
        guard let worker else { return }
        await withCheckedContinuation { continuation in worker.submit { continuation.resume() } }
    }
}
