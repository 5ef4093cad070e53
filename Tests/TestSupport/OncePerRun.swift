import Foundation
import Glibc

/// Folders that take long to make, such as encoded films: in a run of all tests, the first test that needs one makes it.
///
/// The variable WEIRTESTS_RUN names the folder of the run. Without it each test makes its own.
package enum OncePerRun {
    private static let folder: String? = {
        let named = ProcessInfo.processInfo.environment["WEIRTESTS_RUN"] ?? ""
        return named.isEmpty ? nil : named
    }()

    /// Makes a new folder, as a copy if a test of this run has made one of that name. The caller may change its own.
    ///
    /// - Parameters:
    ///   - name: name of what is in the folder.
    ///   - path: where the new folder is made; its parent exists.
    ///   - make: fills the folder at its path.
    package static func makeFolder(
        _ name: String, at path: String, _ make: (_ path: String) async throws -> Void
    ) async throws {
        let kept = folder.map { $0 + "/" + name }
        if let kept, FileManager.default.fileExists(atPath: kept) {
            return try FileManager.default.copyItem(atPath: kept, toPath: path)
        }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try await make(path)
        guard let kept else { return }
        let copy = kept + "." + UUID().uuidString
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        // Another process may have been faster.
        if rename(copy, kept) != 0 {
            try FileManager.default.removeItem(atPath: copy)
        }
    }

    /// True in a run of all checks (`tools/test --all`), in which tests repeat more often what they do at random.
    package static let isThorough = ProcessInfo.processInfo.environment["WEIRTESTS_THOROUGH"] == "true"
}
