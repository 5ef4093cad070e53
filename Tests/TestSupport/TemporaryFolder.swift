package import Foundation
import Glibc

/// A new folder (mode 0700) that is deleted with its content when the last reference is released.
package final class TemporaryFolder: Sendable {
    package let path: String

    /// Creates the folder under the system's temporary folder.
    ///
    /// - Parameter inMemory: true to prefer a file system in memory, for data that is synced very often.
    package init(inMemory: Bool = false) throws {
        let memory = "/dev/shm/"
        let isPossible = inMemory && access(memory, W_OK) == 0
        path = (isPossible ? memory : NSTemporaryDirectory()) + "weir-test-" + UUID().uuidString.prefix(13).lowercased()
        guard mkdir(path, 0o700) == 0 else { throw SystemCallError("mkdir \(path)") }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    package func path(_ name: String) -> String {
        path + "/" + name
    }

    /// Writes a file, creates its parent folders, and returns its absolute path.
    @discardableResult
    package func write(_ data: some DataProtocol, to name: String) throws -> String {
        let url = URL(fileURLWithPath: path(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(data).write(to: url)
        return url.path
    }

    /// The sorted relative paths of all files, at any depth.
    package func files() -> [String] {
        let found = FileManager.default.enumerator(atPath: path)
        return (found?.allObjects as? [String] ?? []).filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: path($0), isDirectory: &isFolder) && !isFolder.boolValue
        }.sorted()
    }

    /// A copy of the folder in its current state, as after a kill.
    ///
    /// A file that is renamed or deleted while it is copied ends the copy; then all is copied again.
    package func copy() async throws -> TemporaryFolder {
        for attempt in 1... {
            let copy = try TemporaryFolder()
            let result = try await ProcessRunner.run("cp", ["-a", path + "/.", copy.path])
            if result.exit == .code(0) {
                return copy
            }
            guard result.errors.contains("No such file or directory"), attempt < 20 else {
                throw CocoaError(.fileReadUnknown, userInfo: [NSDebugDescriptionErrorKey: result.errors])
            }
        }
        preconditionFailure()
    }

    /// The absolute path of the file with this name in a subfolder, at any depth.
    package func find(_ name: String) throws -> String {
        guard let found = files().first(where: { $0.hasSuffix("/" + name) }) else {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name])
        }
        return path(found)
    }
}

package enum FileDamage {
    /// Flips one bit in place: inode and length stay the same.
    ///
    /// - Parameter offset: offset of the byte; nil for the middle.
    package static func flipBit(of path: String, at offset: Int? = nil) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        let place = try offset.map { UInt64($0) } ?? handle.seekToEnd() / 2
        try handle.seek(toOffset: place)
        guard let byte = try handle.read(upToCount: 1)?.first else { throw CocoaError(.fileReadTooLarge) }
        try handle.seek(toOffset: place)
        try handle.write(contentsOf: Data([byte ^ 4]))
        try handle.close()
    }
}

/// The clock of a disk: the times of files are those of the kernel's last tick, some milliseconds ago.
package enum DiskTick {
    /// Waits until a change of a file gets a later time than all changes so far.
    package static func pass(in folder: TemporaryFolder) async throws {
        let first = try time(in: folder)
        try await waitUntil("the next tick of the disk's clock") { try time(in: folder) > first }
    }

    private static func time(in folder: TemporaryFolder) throws -> Int64 {
        let file = folder.path("tick-\(UInt64.random(in: 0 ... .max))")
        try Data().write(to: URL(filePath: file))
        defer { unlink(file) }
        var status = stat()
        guard stat(file, &status) == 0 else { throw SystemCallError("stat") }
        return Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
    }
}
