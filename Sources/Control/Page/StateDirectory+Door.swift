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
    public func writeDoor(to base: String, _ path: String) throws(ControlError) -> String {
        let key = path.split(separator: "/").last ?? ""
        let link = PageRow.escaped("\(base)/#key=\(key)")
        try writeFile(
            "page.html",
            """
            <!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Weir</title>\
            <meta http-equiv="refresh" content="0;url=\(link)"><p><a href="\(link)">Weir</a></p>
            """)
        return "\(self.path)/page.html"
    }
}
