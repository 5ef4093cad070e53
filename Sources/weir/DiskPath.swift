import Foundation

/// Paths as a person writes them, for a daemon that is somewhere else.
enum DiskPath {
    /// The path from the root, without a `/` at its end. Links stay as they are.
    static func absolute(_ path: String) -> String {
        let whole = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        let parts = whole.split(separator: "/").filter { $0 != "." }
        return "/" + parts.joined(separator: "/")
    }
}
