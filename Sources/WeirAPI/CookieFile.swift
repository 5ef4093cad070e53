internal import HTTPMessage

/// A file with cookies in Netscape's format, which a command hands to the daemon.
package enum CookieFile {
    /// The cookies in a file's text, as lines, for the asset at a URL; nil if there are none.
    ///
    /// There are as many as one request to the daemon can have: first those of the URL's host, then of its neighbours.
    /// - Parameter ofItsSiteOnly: true to leave out those of other sites than the URL's.
    package static func lines(_ text: [UInt8], for source: String, ofItsSiteOnly: Bool = false) -> [String]? {
        let cookies = StoredCookie.all(in: text)
        guard !cookies.isEmpty else { return nil }
        let host = (try? WebURL(UserInformation(splitting: source).url))?.host ?? ""
        let site = host.split(separator: ".").suffix(2).joined(separator: ".")
        func rank(_ cookie: StoredCookie) -> Int {
            if cookie.matches(host: host) {
                return 0
            }
            let isSameSite = cookie.domain == site || cookie.domain.hasSuffix("." + site)
            return isSameSite ? 1 : 2
        }
        var room = 40 << 10
        let meant = cookies.filter { !ofItsSiteOnly || rank($0) < 2 }
        let sorted = meant.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }
        let chosen = sorted.map(\.element.line).prefix { line in
            room -= line.utf8.count + 8
            return room >= 0
        }
        return Array(chosen)
    }
}

extension PlayerURL {
    /// The word without the user name and password of a URL.
    package static func withoutPassword(_ word: String) -> String {
        guard isURL(word) else { return word }
        return UserInformation(splitting: word).url
    }
}
