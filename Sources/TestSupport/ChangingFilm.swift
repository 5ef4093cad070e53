import Foundation

/// A folder for an origin with one presentation, `/film/master.m3u8`, that is one fixture now and another one later.
public struct ChangingFilm: Sendable {
    /// The folder to serve.
    public let folder: TemporaryFolder

    /// - Parameter fixture: what it is at first.
    public init(_ fixture: String) throws {
        folder = try TemporaryFolder()
        try change(to: fixture)
    }

    /// Its path.
    public var root: String { folder.path }

    /// Lets it be another one from now on.
    public func change(to fixture: String) throws {
        let film = folder.path("film")
        try? FileManager.default.removeItem(atPath: film)
        try FileManager.default.copyItem(atPath: Repository.path("fixtures/media/\(fixture)"), toPath: film)
    }
}
