package import Foundation

/// Absolute paths of the parts of this checkout.
package enum Repository {
    package static let root: String = {
        // This file is <root>/Tests/TestSupport/Repository.swift.
        let file = #filePath as NSString
        let tests = (file.deletingLastPathComponent as NSString).deletingLastPathComponent
        return (tests as NSString).deletingLastPathComponent
    }()

    /// The path of a file or folder; `path` is relative to ``root``.
    package static func path(_ path: String) -> String {
        root + "/" + path
    }

    /// The names of the presentations in `fixtures/media`, sorted.
    ///
    /// Each has a `master.m3u8`.
    package static let fixtures = ["aes", "aes-noiv", "audio", "byterange-fmp4", "byterange-ts", "cmaf", "ts"]

    /// The bytes of a fixture file; `path` is its URL path on an origin, such as `/ts/90p/0.ts`.
    package static func fixture(_ path: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: Repository.path("fixtures/media" + path)))
    }

    /// The path of a program built by this package: the one that the variable WEIRTESTS_PROGRAM names, else the one beside the running
    /// test bundle, else the one in the default build folder.
    package static func builtProgram(_ name: String) -> String {
        if let given = ProcessInfo.processInfo.environment["WEIRTESTS_PROGRAM"], !given.isEmpty {
            return given
        }

        let running = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let beside = (running as NSString).deletingLastPathComponent + "/" + name
        return FileManager.default.isExecutableFile(atPath: beside) ? beside : path(".build/debug/" + name)
    }
}

/// Two copies of a fixture, in the folders `a` and `b`, with a multivariant playlist that has them as pathways.
package enum MirroredFixture {
    /// Creates a folder to serve, with `master.m3u8`.
    package static func folder(_ fixture: String) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for pathway in ["a", "b"] {
            let from = Repository.path("fixtures/media/" + fixture)
            try FileManager.default.copyItem(atPath: from, toPath: folder.path(pathway))
        }
        let text = String(decoding: try Repository.fixture("/\(fixture)/master.m3u8"), as: UTF8.self)
        try folder.write(Data(master(text).utf8), to: "master.m3u8")
        return folder
    }

    private static func master(_ text: String) -> String {
        let lines = text.split(separator: "\n")
        let head = lines.prefix { !$0.hasPrefix("#EXT-X-MEDIA:") && !$0.contains("STREAM-INF") }
        let steering = "#EXT-X-CONTENT-STEERING:SERVER-URI=\"steering.json\",PATHWAY-ID=\"b\""
        let all =
            head.map(String.init) + [steering]
            + ["a", "b"].flatMap { pathway in
                lines.dropFirst(head.count).map { line(String($0), pathway) }
            }
        return all.map { $0 + "\n" }.joined()
    }

    private static func line(_ line: String, _ pathway: String) -> String {
        guard line.hasPrefix("#") else { return "\(pathway)/\(line)" }
        var line = line.replacing("URI=\"", with: "URI=\"\(pathway)/")
            .replacing("STREAM-INF:", with: "STREAM-INF:PATHWAY-ID=\"\(pathway)\",")
        for group in ["aac", "text"] {
            line = line.replacing("\"\(group)\"", with: "\"\(group)-\(pathway)\"")
        }
        return line
    }
}

/// An origin folder with one presentation, `/film/master.m3u8`, whose content can change to another fixture.
package struct ChangingFilm: Sendable {
    package let folder: TemporaryFolder

    /// Copies a fixture into a new folder.
    ///
    /// - Parameter fixture: the initial content.
    package init(_ fixture: String) throws {
        folder = try TemporaryFolder()
        try change(to: fixture)
    }

    package var root: String { folder.path }

    package func change(to fixture: String) throws {
        let film = folder.path("film")
        try? FileManager.default.removeItem(atPath: film)
        try FileManager.default.copyItem(atPath: Repository.path("fixtures/media/\(fixture)"), toPath: film)
    }
}
