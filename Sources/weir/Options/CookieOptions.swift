import Foundation
import WeirAPI

/// The option for cookies from a browser or another program. Their values are secrets, and no message repeats them.
struct CookieOptions {
    let cookies: String?

    /// Reads the lines for an asset at `source`; nil without the option. Throws `CommandFailure` for a file without cookies.
    func lines(for source: String) throws -> [String]? {
        guard let cookies else { return nil }
        let file = FileHandle(forReadingAtPath: cookies)
        guard let data = try? file?.readToEnd(limit: Self.maximumSize) else {
            throw CommandFailure(
                "\(cookies) cannot be read", next: "give an existing file", exitCode: 66, code: "no-cookies")
        }
        guard data.count <= Self.maximumSize, let lines = CookieFile.lines([UInt8](data), for: source) else {
            throw CommandFailure(
                "\(cookies) has no cookies in Netscape's format",
                next: "export it with a browser's extension, or: yt-dlp --cookies-from-browser BROWSER --cookies FILE",
                exitCode: 65, code: "no-cookies")
        }
        return lines
    }

    private static let maximumSize = 8 << 20
}
