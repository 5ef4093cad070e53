public import Foundation

/// Where the parts of this checkout lie.
///
/// All paths are absolute.
public enum Repository {
    /// The folder that holds `Package.swift`.
    public static let root: String = {
        // This file is <root>/Sources/TestSupport/Repository.swift.
        let file = #filePath as NSString
        let sources = (file.deletingLastPathComponent as NSString).deletingLastPathComponent
        return (sources as NSString).deletingLastPathComponent
    }()

    /// A file or folder under ``root``; `path` is relative.
    public static func path(_ path: String) -> String {
        root + "/" + path
    }

    /// The names of the presentations in `fixtures/media`, sorted.
    ///
    /// Each has a `master.m3u8`.
    public static let fixtures = ["aes", "aes-noiv", "audio", "byterange-fmp4", "byterange-ts", "cmaf", "ts"]

    /// The bytes of a fixture file; `path` is what an origin's URL would have, such as `/ts/90p/0.ts`.
    public static func fixture(_ path: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: Repository.path("fixtures/media" + path)))
    }

    /// A program that this package built, found beside the test bundle that is running, or else in the default build
    /// folder.
    public static func builtProgram(_ name: String) -> String {
        let running = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let beside = (running as NSString).deletingLastPathComponent + "/" + name
        return FileManager.default.isExecutableFile(atPath: beside) ? beside : path(".build/debug/" + name)
    }
}
