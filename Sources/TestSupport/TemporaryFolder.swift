public import Foundation
import Glibc

/// A fresh folder (mode 0700) that is deleted with everything in it when the last reference goes.
public final class TemporaryFolder: Sendable {
    /// Absolute path, without a slash at the end.
    public let path: String

    /// Makes the folder under the system's temporary folder.
    ///
    /// - Parameter inMemory: rather on a file system in memory, where there is one: for what is synced very often.
    public init(inMemory: Bool = false) throws {
        let memory = "/dev/shm/"
        let isPossible = inMemory && access(memory, W_OK) == 0
        path = (isPossible ? memory : NSTemporaryDirectory()) + "weir-test-" + UUID().uuidString.prefix(13).lowercased()
        guard mkdir(path, 0o700) == 0 else { throw SystemCallError("mkdir \(path)") }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The absolute path of something in the folder.
    public func path(_ name: String) -> String {
        path + "/" + name
    }

    /// Writes a file, making the folders above it, and gives its absolute path.
    @discardableResult
    public func write(_ data: some DataProtocol, to name: String) throws -> String {
        let url = URL(fileURLWithPath: path(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(data).write(to: url)
        return url.path
    }

    /// The paths, relative to the folder and sorted, of all files in it, at any depth.
    public func files() -> [String] {
        let found = FileManager.default.enumerator(atPath: path)
        return (found?.allObjects as? [String] ?? []).filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: path($0), isDirectory: &isFolder) && !isFolder.boolValue
        }.sorted()
    }

    /// The absolute path of the one file in the folder, at any depth, that has this name.
    public func find(_ name: String) throws -> String {
        guard let found = files().first(where: { $0.hasSuffix("/" + name) }) else {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name])
        }
        return path(found)
    }
}
