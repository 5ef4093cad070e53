public import Foundation

/// Absolute paths of the parts of this checkout.
public enum Repository {
    /// The folder that holds `Package.swift`.
    public static let root: String = {
        // This file is <root>/Tests/TestSupport/Repository.swift.
        let file = #filePath as NSString
        let tests = (file.deletingLastPathComponent as NSString).deletingLastPathComponent
        return (tests as NSString).deletingLastPathComponent
    }()

    /// The path of a file or folder; `path` is relative to ``root``.
    public static func path(_ path: String) -> String {
        root + "/" + path
    }

    /// The names of the presentations in `fixtures/media`, sorted.
    ///
    /// Each has a `master.m3u8`.
    public static let fixtures = ["aes", "aes-noiv", "audio", "byterange-fmp4", "byterange-ts", "cmaf", "ts"]

    /// The bytes of a fixture file; `path` is its URL path on an origin, such as `/ts/90p/0.ts`.
    public static func fixture(_ path: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: Repository.path("fixtures/media" + path)))
    }

    /// The path of a program built by this package: beside the running test bundle, else in the default build folder.
    public static func builtProgram(_ name: String) -> String {
        let running = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let beside = (running as NSString).deletingLastPathComponent + "/" + name
        return FileManager.default.isExecutableFile(atPath: beside) ? beside : path(".build/debug/" + name)
    }
}
