extension StateDirectory {
    /// Writes `page.html`, readable by its owner only, which leads a browser to the page. So the key does not appear in
    /// a program's arguments, which all users of a machine can read.
    ///
    /// The file leads to `/`, which accepts links from anywhere. The key is in the fragment, which browsers do not
    /// send.
    ///
    /// - Parameters:
    ///   - base: the daemon's URL for browsers, without a slash at its end.
    ///   - path: the page's path from the API.
    /// - Returns: the file's path.
    public func writeDoor(to base: String, _ path: String) throws(APIError) -> String {
        let key = path.split(separator: "/").last ?? ""
        let link = HTMLText.escaped("\(base)/#key=\(key)")
        try writeFile(
            "page.html",
            """
            <!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Weir</title>\
            <meta http-equiv="refresh" content="0;url=\(link)"><p><a href="\(link)">Weir</a></p>
            """)
        return "\(self.path)/page.html"
    }
}

/// Escapes text for HTML.
public enum HTMLText {
    /// Escapes text for an element or a quoted attribute. Titles are untrusted.
    public static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\u{0}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
