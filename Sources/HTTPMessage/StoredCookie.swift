/// One line of a cookie file in Netscape's format, as browsers' extensions, yt-dlp and curl write it.
///
/// The value is a secret: the description does not contain it.
public struct StoredCookie: Hashable, Sendable, CustomStringConvertible {
    /// In lower case, without a leading dot.
    public let domain: String
    /// True if subdomains of `domain` receive the cookie too.
    public let includesSubdomains: Bool
    /// The line in the form that libcurl reads: seven fields between tabs.
    public let line: String

    /// Parses a line without its line end; nil for a comment, a blank line, and anything that is no cookie.
    public init?(_ line: some Collection<UInt8>) {
        guard line.count <= Self.maximumLineLength else { return nil }
        var bytes = Array(line)
        if bytes.last == UInt8(ascii: "\r") {
            bytes.removeLast()
        }
        let isScriptless = bytes.starts(with: Self.mark.utf8)
        if isScriptless {
            bytes.removeFirst(Self.mark.utf8.count)
        }
        guard bytes.first != UInt8(ascii: "#"), !bytes.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F })
        else { return nil }
        let fields = bytes.split(separator: 0x09, omittingEmptySubsequences: false)
        // A cookie without a value may lack the last tab.
        guard fields.count == 7 || fields.count == 6, fields.count == 6 || !fields[5].isEmpty else { return nil }
        var host = fields[0]
        if host.first == UInt8(ascii: ".") {
            host = host.dropFirst()
        }
        var valueBytes = fields[5].prefix(0)
        if fields.count == 7 {
            valueBytes = fields[6]
        }
        guard let first = host.first, first != UInt8(ascii: "."), host.allSatisfy(Self.isHostByte),
            fields[2].first == UInt8(ascii: "/"),
            let name = String(validating: fields[5], as: UTF8.self), !name.isEmpty,
            let path = String(validating: fields[2], as: UTF8.self),
            let value = String(validating: valueBytes, as: UTF8.self)
        else { return nil }
        domain = String(decoding: host, as: UTF8.self).lowercased()
        includesSubdomains = Self.isTrue(fields[1])
        // Some programs write fractions of a second, or nothing for the end of the browser's session.
        let digits = fields[4].prefix { (0x30...0x39).contains($0) }.prefix(18)
        let expires = Int64(String(decoding: digits, as: UTF8.self)) ?? 0

        var line = ""
        if isScriptless {
            line += Self.mark
        }
        if includesSubdomains {
            line += "."
        }
        let subdomains = Self.word(for: includesSubdomains)
        let isSecure = Self.word(for: Self.isTrue(fields[3]))
        line += "\(domain)\t\(subdomains)\t\(path)\t\(isSecure)\t\(expires)\t\(name)\t\(value)"
        self.line = line
    }

    /// True if a request to `host` may receive the cookie (RFC 6265 §5.1.3).
    public func matches(host: String) -> Bool {
        host == domain || (includesSubdomains && domain.contains(".") && host.hasSuffix("." + domain))
    }

    /// The cookies of a file's text, at most `maximumCount`. Lines that are no cookies are ignored.
    public static func all(in text: some Collection<UInt8>) -> [StoredCookie] {
        var cookies: [StoredCookie] = []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            if cookies.count == maximumCount {
                break
            }
            if let cookie = StoredCookie(line) {
                cookies.append(cookie)
            }
        }
        return cookies
    }

    /// The name of the cookie, without its value.
    public var name: String {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
        return String(fields[5])
    }

    /// The domain and the name only, so that interpolating a cookie leaks nothing.
    public var description: String { "\(name) for \(domain)" }

    /// Most cookies that are read from a file: a browser keeps about 3,000.
    public static let maximumCount = 10_000
    /// libcurl ignores longer cookies.
    static let maximumLineLength = 5000
    private static let mark = "#HttpOnly_"

    private static func isTrue(_ field: some Collection<UInt8>) -> Bool {
        String(decoding: field, as: UTF8.self).uppercased() == "TRUE"
    }

    private static func word(for isTrue: Bool) -> String {
        guard isTrue else { return "FALSE" }
        return "TRUE"
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "-_.:[]".utf8.contains(byte)
    }
}
