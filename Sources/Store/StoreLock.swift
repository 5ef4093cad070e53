import Glibc

/// One process's hold on a store: an advisory lock on the file `lock`, let go with the last reference or by the
/// process's end.
final class StoreLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock, or throws `busy` at once when another holds it.
    init(in root: Directory) throws(StoreError) {
        let opened = try root.open("lock", flags: O_RDWR | O_CREAT)
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let error = StoreError(path: root.path)
            close(opened)  // By hand: `deinit` closes only what was stored.
            throw error
        }
        descriptor = opened
    }

    deinit { close(descriptor) }
}
