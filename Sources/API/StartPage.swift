extension StateDirectory {
    /// Writes `page.html`, for nobody but its owner, which leads a browser to the page. So the key stands in no program's
    /// arguments, which all users of a machine can read.
    ///
    /// It leads to `/`, where links from anywhere may lead, with the key in the fragment, which is sent to nobody.
    ///
    /// - Parameters:
    ///   - base: the daemon's URL for browsers, without a slash at its end.
    ///   - path: the page's, as the API gives it.
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

/// Text in HTML.
public enum HTMLText {
    /// Text as it may stand in an element or in an attribute with quotation marks: titles come from anywhere.
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
