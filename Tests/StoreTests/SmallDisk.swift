import Foundation
import Glibc
import TestSupport

@testable import Store

/// A folder on a file system of its own that is soon full: a tmpfs which nobody sees but through the open folder.
///
/// A thread leaves the process's mount namespace, mounts the file system, and opens the folder; with the thread the mount
/// goes, while the open folder keeps the file system. That takes root.
enum SmallDisk {
    /// Whether this process may mount.
    static let isPossible = (try? mounted(size: 4096)) != nil

    static func folder(size: Int) async throws -> Directory {
        try await blocking { try mounted(size: size) }
    }

    private static func mounted(size: Int) throws -> Directory {
        let place = try TemporaryFolder()
        let result = Outcome()
        let thread = Thread { result.value = Result { try mount(at: place.path, size: size) } }
        let ended = DispatchSemaphore(value: 0)
        result.ended = ended
        thread.start()
        ended.wait()
        guard let value = result.value else { throw SystemCallError("mount") }
        return try value.get()
    }

    private final class Outcome: @unchecked Sendable {  // One thread writes, the other reads after the semaphore.
        var ended: DispatchSemaphore?
        var value: Result<Directory, any Error>? { didSet { ended?.signal() } }
    }

    private static func mount(at path: String, size: Int) throws -> Directory {
        typealias Unshare = @convention(c) (Int32) -> Int32
        let newNamespace: Int32 = 0x20000  // CLONE_NEWNS, which Glibc's module does not show.
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "unshare") else { throw SystemCallError("dlsym") }
        guard unsafeBitCast(symbol, to: Unshare.self)(newNamespace) == 0 else { throw SystemCallError("unshare") }
        // Private, so that nothing of this reaches the other namespace.
        guard Glibc.mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0 else {
            throw SystemCallError("mount private")
        }
        guard Glibc.mount("tmpfs", path, "tmpfs", 0, "size=\(size)") == 0 else { throw SystemCallError("mount") }
        return try Directory.open(path: path)
    }
}
