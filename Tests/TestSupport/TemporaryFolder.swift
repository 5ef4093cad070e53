public import Foundation
import Glibc

/// A new folder (mode 0700) that is deleted with its content when the last reference is released.
public final class TemporaryFolder: Sendable {
    /// Absolute path, without a trailing slash.
    public let path: String

    /// Creates the folder under the system's temporary folder.
    ///
    /// - Parameter inMemory: true to prefer a file system in memory, for data that is synced very often.
    public init(inMemory: Bool = false) throws {
        let memory = "/dev/shm/"
        let isPossible = inMemory && access(memory, W_OK) == 0
        path = (isPossible ? memory : NSTemporaryDirectory()) + "weir-test-" + UUID().uuidString.prefix(13).lowercased()
        guard mkdir(path, 0o700) == 0 else { throw SystemCallError("mkdir \(path)") }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The absolute path of a file or folder inside.
    public func path(_ name: String) -> String {
        path + "/" + name
    }

    /// Writes a file, creates its parent folders, and returns its absolute path.
    @discardableResult
    public func write(_ data: some DataProtocol, to name: String) throws -> String {
        let url = URL(fileURLWithPath: path(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(data).write(to: url)
        return url.path
    }

    /// The sorted relative paths of all files, at any depth.
    public func files() -> [String] {
        let found = FileManager.default.enumerator(atPath: path)
        return (found?.allObjects as? [String] ?? []).filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: path($0), isDirectory: &isFolder) && !isFolder.boolValue
        }.sorted()
    }

    /// The absolute path of the file with this name in a subfolder, at any depth.
    public func find(_ name: String) throws -> String {
        guard let found = files().first(where: { $0.hasSuffix("/" + name) }) else {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name])
        }
        return path(found)
    }
}

/// Damages files.
public enum FileDamage {
    /// Flips one bit in place: inode and length stay the same.
    ///
    /// - Parameter offset: offset of the byte; nil for the middle.
    public static func flipBit(of path: String, at offset: Int? = nil) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        let place = try offset.map { UInt64($0) } ?? handle.seekToEnd() / 2
        try handle.seek(toOffset: place)
        guard let byte = try handle.read(upToCount: 1)?.first else { throw CocoaError(.fileReadTooLarge) }
        try handle.seek(toOffset: place)
        try handle.write(contentsOf: Data([byte ^ 4]))
        try handle.close()
    }
}
