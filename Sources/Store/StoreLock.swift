import Glibc
import Synchronization

/// The lock of one process on a store or volume: flock(2) on the file `lock`, released with the last reference or at
/// the process's end. While there may be unsynced pieces, the file holds the id of the current boot. A later process
/// that finds another boot's id knows that the power was lost.
final class StoreLock: Sendable {
    private let descriptor: Int32
    private let doubtful: Atomic<Bool>
    /// True if a process of an earlier boot ended with unsynced pieces, and `begin()` was not called since.
    var isDoubtful: Bool { doubtful.load(ordering: .relaxed) }

    /// Acquires the lock, or throws `busy` at once if another process holds it.
    init(in root: Directory) throws(StoreError) {
        let opened = try root.open("lock", flags: O_RDWR | O_CREAT)
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let error = StoreError(path: root.path)
            close(opened)  // `deinit` does not run for an incomplete object.
            throw error
        }
        descriptor = opened
        let found = Self.read(opened)
        doubtful = Atomic(!found.isEmpty && found != Self.boot)
        if !isDoubtful {
            begin()
        }
    }

    deinit { close(descriptor) }

    /// Writes this boot's id: from now on there may be unsynced pieces. Call it once the pieces of an earlier boot are checked.
    func begin() {
        ftruncate(descriptor, 0)
        pwrite(descriptor, Self.boot, Self.boot.count, 0)
        fsync(descriptor)
        doubtful.store(false, ordering: .relaxed)
    }

    func end() { ftruncate(descriptor, 0) }

    private static func read(_ descriptor: Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(0, count)))
    }

    /// This boot's id: random(4). A constant if the system has none: then a power cut is not noticed.
    private static let boot: [UInt8] = {
        let opened = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { return Array("unknown".utf8) }
        defer { close(opened) }
        return read(opened)
    }()
}
