import Foundation
import Glibc
import Synchronization
import TestSupport

@testable import Store

/// A folder on a small file system of its own: a tmpfs that is visible only through the open folder.
///
/// A thread leaves the process's mount namespace, mounts the file system, and opens the folder. The mount ends with the thread;
/// the open folder keeps the file system. Needs root.
enum SmallDisk {
    /// True if this process may mount.
    static let isPossible = (try? mounted(size: 4096)) != nil

    static func folder(size: Int) async throws -> Directory {
        try await blocking { try mounted(size: size) }
    }

    private static func mounted(size: Int) throws -> Directory {
        let place = try TemporaryFolder()
        let outcome = Outcome()
        let ended = DispatchSemaphore(value: 0)
        let thread = Thread {
            let result = Result { try mount(at: place.path, size: size) }
            outcome.value.withLock { $0 = result }
            ended.signal()
        }
        thread.start()
        ended.wait()
        guard let result = outcome.value.withLock({ $0 }) else { throw SystemCallError("mount") }
        return try result.get()
    }

    private final class Outcome: Sendable {
        let value = Mutex<Result<Directory, any Error>?>(nil)
    }

    private static func mount(at path: String, size: Int) throws -> Directory {
        typealias Unshare = @convention(c) (Int32) -> Int32
        let newNamespace: Int32 = 0x20000  // CLONE_NEWNS, which is missing in Glibc's module.
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "unshare") else { throw SystemCallError("dlsym") }
        guard unsafeBitCast(symbol, to: Unshare.self)(newNamespace) == 0 else { throw SystemCallError("unshare") }
        // Private: the mount does not propagate to the other namespace.
        guard Glibc.mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0 else {
            throw SystemCallError("mount private")
        }
        guard Glibc.mount("tmpfs", path, "tmpfs", 0, "size=\(size)") == 0 else { throw SystemCallError("mount") }
        return try Directory.open(path: path)
    }
}
