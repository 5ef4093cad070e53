import Foundation

/// Two copies of a fixture, in the folders `a` and `b`, with a multivariant playlist that has them as pathways.
public enum MirroredFixture {
    /// Creates a folder to serve, with `master.m3u8`.
    public static func folder(_ fixture: String) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for pathway in ["a", "b"] {
            let from = Repository.path("fixtures/media/" + fixture)
            try FileManager.default.copyItem(atPath: from, toPath: folder.path(pathway))
        }
        let text = String(decoding: try Repository.fixture("/\(fixture)/master.m3u8"), as: UTF8.self)
        try folder.write(Data(master(text).utf8), to: "master.m3u8")
        return folder
    }

    /// Repeats every rendition and variant line once per pathway.
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
        for group in ["aac", "text"] { line = line.replacing("\"\(group)\"", with: "\"\(group)-\(pathway)\"") }
        return line
    }
}

/// An origin folder with one presentation, `/film/master.m3u8`, whose content can change to another fixture.
public struct ChangingFilm: Sendable {
    /// The folder to serve.
    public let folder: TemporaryFolder

    /// Copies a fixture into a new folder.
    ///
    /// - Parameter fixture: the initial content.
    public init(_ fixture: String) throws {
        folder = try TemporaryFolder()
        try change(to: fixture)
    }

    /// Path of the folder.
    public var root: String { folder.path }

    /// Replaces the presentation by another fixture.
    public func change(to fixture: String) throws {
        let film = folder.path("film")
        try? FileManager.default.removeItem(atPath: film)
        try FileManager.default.copyItem(atPath: Repository.path("fixtures/media/\(fixture)"), toPath: film)
    }
}
