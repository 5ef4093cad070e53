import ArgumentParser
import Daemon
import Foundation
import WeirAPI

/// The options for cookies from a browser or another program. Their values are secrets, and no message repeats them.
struct CookieOptions {
    /// The path of a cookie file.
    let cookies: String?
    /// `firefox`, or `firefox:PROFILE`.
    let browser: String?

    var areGiven: Bool { cookies != nil || browser != nil }

    func validate() throws {
        guard let browser else { return }
        guard cookies == nil else {
            throw ValidationError("--cookies and --cookies-from-browser exclude each other.")
        }
        guard Self.name(in: browser) == Self.firefox else {
            throw ValidationError(
                "--cookies-from-browser reads those of firefox. For another browser: yt-dlp --cookies-from-browser NAME --cookies FILE, and then --cookies FILE."
            )
        }
    }

    /// Reads the lines for an asset at `source`; nil without an option. Throws `CommandFailure` if there are no cookies.
    func lines(for source: String) throws -> [String]? {
        if let browser {
            return try lines(ofBrowser: browser, for: source)
        }
        guard let cookies else { return nil }
        let file = FileHandle(forReadingAtPath: cookies)
        guard let data = try? file?.readToEnd(limit: Self.maximumSize) else {
            throw CommandFailure(
                "\(cookies) cannot be read", next: "give an existing file", exitCode: 66, code: "no-cookies")
        }
        guard data.count <= Self.maximumSize, let lines = CookieFile.lines([UInt8](data), for: source) else {
            throw CommandFailure(
                "\(cookies) has no cookies in Netscape's format",
                next: "--cookies-from-browser firefox, or: yt-dlp --cookies-from-browser BROWSER --cookies FILE",
                exitCode: 65, code: "no-cookies")
        }
        return lines
    }

    private func lines(ofBrowser browser: String, for source: String) throws -> [String] {
        guard PlayerURL.isURL(source) else {
            throw CommandFailure(
                "the cookies of a browser are chosen by a URL, and \(source) is a name", next: "give the URL",
                exitCode: 64,
                code: "usage")
        }
        var profile: String?
        if let colon = browser.firstIndex(of: ":") {
            profile = String(browser[browser.index(after: colon)...])
        }
        let text: [UInt8]
        do throws(FirefoxCookies.Failure) {
            text = try FirefoxCookies.lines(profile: profile, environment: ProcessInfo.processInfo.environment)
        } catch {
            throw Self.failure(error, profile: profile)
        }
        // Those of other sites are nobody's business.
        guard let lines = CookieFile.lines(text, for: source, ofItsSiteOnly: true), !lines.isEmpty else {
            throw CommandFailure(
                "Firefox has no cookies for that site",
                next: "log in there with Firefox, in a window that is not private",
                exitCode: 66, code: "no-cookies")
        }
        return lines
    }

    private static func failure(_ failure: FirefoxCookies.Failure, profile: String?) -> CommandFailure {
        switch failure {
        case .noProfile:
            var message = "there is no profile of Firefox in this home folder"
            if let profile {
                message = "Firefox has no profile \(profile)"
            }
            return CommandFailure(
                message, next: "--cookies-from-browser firefox:FOLDER; about:profiles in Firefox shows the folder",
                exitCode: 66,
                code: "no-cookies")
        case .unreadable(let reason):
            return CommandFailure(
                "the cookies of Firefox cannot be read: \(reason)", next: "give a cookie file: --cookies FILE",
                exitCode: 66,
                code: "no-cookies")
        }
    }

    private static let firefox = "firefox"

    private static func name(in browser: String) -> String { browser.prefix { $0 != ":" }.lowercased() }

    private static let maximumSize = 8 << 20
}
