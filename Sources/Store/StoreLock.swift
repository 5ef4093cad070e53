import Glibc
import Synchronization

/// One process's hold on a store: an advisory lock on the file `lock`, let go with the last reference or by the
/// process's end.
///
/// The file says in which boot of the system the store is used, as long as what came has perhaps not outlived a loss of
/// power: so the next process knows whether there was one.
final class StoreLock: Sendable {
    private let descriptor: Int32
    private let doubtful: Atomic<Bool>
    /// Whether an earlier process ended in an earlier boot with what had come unsynced, and `begin()` was not called
    /// since.
    var isDoubtful: Bool { doubtful.load(ordering: .relaxed) }

    /// Takes the lock, or throws `busy` at once when another holds it.
    init(in root: Directory) throws(StoreError) {
        let opened = try root.open("lock", flags: O_RDWR | O_CREAT)
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let error = StoreError(path: root.path)
            close(opened)  // By hand: `deinit` closes only what was stored.
            throw error
        }
        descriptor = opened
        let noted = Self.read(opened)
        doubtful = Atomic(!noted.isEmpty && noted != Self.boot)
        if !isDoubtful { begin() }
    }

    deinit { close(descriptor) }

    /// Notes that from now on there may be what is not synced. To be called once all is settled that an earlier boot left.
    func begin() {
        ftruncate(descriptor, 0)
        pwrite(descriptor, Self.boot, Self.boot.count, 0)
        fsync(descriptor)
        doubtful.store(false, ordering: .relaxed)
    }

    /// Notes that all is synced.
    func end() { ftruncate(descriptor, 0) }

    private static func read(_ descriptor: Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(0, count)))
    }

    /// This boot's id: random(4). Always the same one where the system tells none: then a loss of power is not noticed.
    private static let boot: [UInt8] = {
        let opened = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { return Array("unknown".utf8) }
        defer { close(opened) }
        return read(opened)
    }()
}
