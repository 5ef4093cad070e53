import Store

/// The contents of `weir-published.txt` at a target: the asset, and the files that Weir has put there. Pure.
///
/// ```
/// # weir publication 1 sintel-k3f9
/// asset.json
/// video-720p/0.m4s
/// ```
/// The heading ends with the asset's id. A file is listed before it is put there, and until it is deleted. So Weir knows its
/// own files even after it was killed, and never takes a file of others for its own.
struct PublicationRecord: Equatable, Sendable {
    static let fileName = "weir-published.txt"
    private static let heading = "# weir publication 1 "

    /// The asset's id.
    let asset: String
    /// The paths of the files.
    var paths: Set<String>

    init(asset: String, paths: Set<String>) { (self.asset, self.paths) = (asset, paths) }

    /// Parses a record; nil if the text is not of this form.
    init?(_ text: [UInt8]) {
        var lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        guard let first = lines.first, first.hasPrefix(Self.heading) else { return nil }
        lines.removeFirst()
        asset = String(first.dropFirst(Self.heading.count))
        // A damaged record must not lead to files that no publication has.
        paths = Set(lines.map(String.init).filter(Self.isPath))
    }

    /// The text.
    var text: [UInt8] { Array((Self.heading + asset + "\n" + paths.sorted().map { $0 + "\n" }.joined()).utf8) }

    /// True for the path of a published file: one or two names, without `..`.
    static func isPath(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return (1...2).contains(parts.count) && parts.allSatisfy { Directory.isName(String($0)) }
    }
}
