internal import Foundation
internal import GRDB

/// The cookies of the user's Firefox, which a command hands to the daemon. Their values are secrets, and no message repeats them.
package enum FirefoxCookies {
    /// The reason why there are none.
    package enum Failure: Error, Equatable {
        /// Firefox has no profile here, or none of that name.
        case noProfile
        /// The sentence gives the reason.
        case unreadable(String)
    }

    /// Reads the cookies of a profile as lines of a cookie file in Netscape's format.
    ///
    /// - Parameters:
    ///   - profile: its name or the path of its folder; nil for that which Firefox starts with.
    ///   - environment: has the user's HOME.
    package static func lines(profile: String?, environment: [String: String]) throws(Failure) -> [UInt8] {
        guard let folder = folder(ofProfile: profile, environment) else { throw .noProfile }
        do {
            return try read(folder + "/" + fileName)
        } catch {
            throw .unreadable("\(folder)/\(fileName): \(sentence(error))")
        }
    }

    private static let fileName = "cookies.sqlite"

    private static func folder(ofProfile wish: String?, _ environment: [String: String]) -> String? {
        let files = FileManager.default
        func hasCookies(_ path: String) -> Bool { files.fileExists(atPath: path + "/" + fileName) }
        if let wish, wish.contains("/") {
            return hasCookies(wish) ? wish : nil
        }

        let home = environment["HOME"] ?? NSHomeDirectory()
        var candidates: [(path: String, used: Date)] = []
        for root in FirefoxProfiles.roots(home: home, environment: environment) {
            guard let text = try? String(contentsOfFile: root + "/profiles.ini", encoding: .utf8) else { continue }
            var profiles = FirefoxProfiles(text, root: root).profiles.filter { hasCookies($0.path) }
            if let wish {
                profiles = profiles.filter { $0.name == wish }
            }
            // The first is the one that this installation starts with.
            guard let first = profiles.first else { continue }
            let attributes = try? files.attributesOfItem(atPath: first.path + "/" + fileName)
            candidates.append((first.path, attributes?[.modificationDate] as? Date ?? .distantPast))
        }
        // With several installations, the one that was used last.
        return candidates.max { $0.used < $1.used }?.path
    }

    /// Reads a copy: a running Firefox locks its file, and its latest cookies are in the file beside it.
    private static func read(_ path: String) throws -> [UInt8] {
        let files = FileManager.default
        var template = Array((NSTemporaryDirectory() + "/weir-cookies-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { try? files.removeItem(atPath: folder) }

        let copy = folder + "/" + fileName
        try files.copyItem(atPath: path, toPath: copy)
        for suffix in ["-wal"] where files.fileExists(atPath: path + suffix) {
            try files.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        let database = try DatabaseQueue(path: copy)
        defer { try? database.close() }
        // Cookies of containers and of frames within other sites are other people's business.
        let query = """
            SELECT host, path, isSecure, isHttpOnly, expiry, name, value FROM moz_cookies WHERE originAttributes = '' \
            ORDER BY lastAccessed DESC LIMIT 10000
            """
        let lines = try database.read { database in try Row.fetchAll(database, sql: query).map(line) }
        return Array(lines.joined(separator: "\n").utf8)
    }

    private static func line(_ row: Row) -> String {
        let host: String = row["host"] ?? ""
        let path: String = row["path"] ?? "/"
        let name: String = row["name"] ?? ""
        let value: String = row["value"] ?? ""
        let isSecure: Bool = row["isSecure"] ?? false
        let isScriptless: Bool = row["isHttpOnly"] ?? false
        var expiry: Int64 = row["expiry"] ?? 0
        // Firefox 142 and later write milliseconds.
        if expiry > 100_000_000_000 {
            expiry /= 1000
        }
        let fields = [host, word(host.hasPrefix(".")), path, word(isSecure), "\(expiry)", name, value]
        // A line break or a tab would begin another cookie.
        guard fields.allSatisfy({ field in !field.utf8.contains { $0 < 0x20 } }) else { return "" }
        let mark = isScriptless ? "#HttpOnly_" : ""
        return mark + fields.joined(separator: "\t")
    }

    private static func word(_ isTrue: Bool) -> String {
        guard isTrue else { return "FALSE" }
        return "TRUE"
    }

    private static func sentence(_ error: any Error) -> String {
        if let error = error as? DatabaseError {
            return error.message ?? "it is no database of cookies"
        }
        return (error as NSError).localizedFailureReason ?? error.localizedDescription
    }
}
