import Foundation
import GRDB
import TestSupport
import Testing

@testable import Daemon

/// The cookies of Firefox: a profile as Firefox writes it, and the lines of a cookie file.
@Suite struct FirefoxCookiesTests {
    private let home: TemporaryFolder

    init() throws { home = try TemporaryFolder() }

    private static let columns = """
        CREATE TABLE moz_cookies (id INTEGER PRIMARY KEY, originAttributes TEXT NOT NULL DEFAULT '', name TEXT, value TEXT, \
        host TEXT, path TEXT, expiry INTEGER, lastAccessed INTEGER, creationTime INTEGER, isSecure INTEGER, isHttpOnly INTEGER)
        """

    /// Writes a profile with these cookies: host, name, value, attributes of the origin, expiry.
    private func profile(
        _ path: String, _ cookies: [(host: String, name: String, value: String, origin: String, expiry: Int64)]
    ) throws -> DatabaseQueue {
        let folder = home.path(path)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        let database = try DatabaseQueue(path: folder + "/cookies.sqlite", configuration: configuration)
        try database.write { database in
            try database.execute(sql: Self.columns)
            for cookie in cookies {
                try database.execute(
                    sql: """
                        INSERT INTO moz_cookies (originAttributes, name, value, host, path, expiry, isSecure, isHttpOnly) \
                        VALUES (?, ?, ?, ?, '/', ?, 1, 0)
                        """, arguments: [cookie.origin, cookie.name, cookie.value, cookie.host, cookie.expiry])
            }
        }
        return database
    }

    private func lines(_ profile: String? = nil) throws -> [String] {
        let bytes = try FirefoxCookies.lines(profile: profile, environment: ["HOME": home.path("")])
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// A running Firefox holds its database open, and its latest cookies are in the file beside it.
    @Test func theCookiesOfARunningFirefoxAreRead() throws {
        let root = home.path(".mozilla/firefox")
        let running = try profile(
            ".mozilla/firefox/k.default-release",
            [
                (".example.com", "sid", "secret", "", 2_000_000_000_000), ("h.example", "a", "b", "", 5),
                (".example.com", "box", "x", "^userContextId=1", 5), ("bad.example", "n", "a\tb", "", 5),
            ])
        try
            "[Install4F96]\nDefault=k.default-release\nLocked=1\n\n[Profile1]\nName=old\nIsRelative=1\nPath=o.default\nDefault=1\n\n[Profile0]\nName=default-release\nIsRelative=1\nPath=k.default-release\n"
            .write(toFile: root + "/profiles.ini", atomically: true, encoding: .utf8)
        let expected: Set = [
            ".example.com\tTRUE\t/\tTRUE\t2000000000\tsid\tsecret", "h.example\tFALSE\t/\tTRUE\t5\ta\tb",
        ]
        #expect(Set(try lines()) == expected)
        #expect(Set(try lines("default-release")) == expected)
        #expect(Set(try lines(root + "/k.default-release")) == expected)
        #expect(throws: FirefoxCookies.Failure.noProfile) { try lines("old") }
        let temporary = try FileManager.default.contentsOfDirectory(atPath: NSTemporaryDirectory())
        #expect(!temporary.contains { $0.hasPrefix("weir-cookies-") })
        try running.close()
    }

    @Test(arguments: [
        "snap/firefox/common/.mozilla/firefox", ".var/app/org.mozilla.firefox/.mozilla/firefox",
        ".config/mozilla/firefox",
    ])
    func aSnapAndAFlatpakHaveTheirOwnFolders(_ root: String) throws {
        let database = try profile(root + "/p.default", [("h.example", "a", "b", "", 5)])
        try "[Profile0]\nName=default\nIsRelative=1\nPath=p.default\nDefault=1\n"
            .write(toFile: home.path(root + "/profiles.ini"), atomically: true, encoding: .utf8)
        #expect(try lines() == ["h.example\tFALSE\t/\tTRUE\t5\ta\tb"])
        try database.close()
    }

    @Test func withoutAProfileThereAreNone() throws {
        #expect(throws: FirefoxCookies.Failure.noProfile) { try lines() }
        let folder = home.path("broken")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("no database".utf8).write(to: URL(filePath: folder + "/cookies.sqlite"))
        #expect(throws: FirefoxCookies.Failure.self) { try lines(folder) }
    }
}
