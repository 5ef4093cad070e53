import Store

/// `weir-published.txt`, which lies beside a publication: whose it is, and which files Weir has put there. Pure.
///
/// ```
/// # weir publication 1 sintel-k3f9
/// asset.json
/// video-720p/0.m4s
/// ```
/// A file stands in it before it is put, and until it is deleted, so that also after a kill nothing of ours is forgotten, and
/// nothing of others is ever taken for ours. The id is the asset's.
struct PublicationRecord: Equatable, Sendable {
    /// The file's name.
    static let fileName = "weir-published.txt"
    private static let heading = "# weir publication 1 "

    /// The asset's id.
    let asset: String
    /// The files' paths.
    var paths: Set<String>

    init(asset: String, paths: Set<String>) { (self.asset, self.paths) = (asset, paths) }

    /// Reads a text; nil for one that is no record of this form.
    init?(_ text: [UInt8]) {
        var lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        guard let first = lines.first, first.hasPrefix(Self.heading) else { return nil }
        lines.removeFirst()
        asset = String(first.dropFirst(Self.heading.count))
        // A path that no publication has leads nowhere.
        paths = Set(lines.map(String.init).filter(Self.isPath))
    }

    /// The text.
    var text: [UInt8] { Array((Self.heading + asset + "\n" + paths.sorted().map { $0 + "\n" }.joined()).utf8) }

    /// Whether it is the path of something that is published: two names at most, none of which leads elsewhere.
    static func isPath(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return (1...2).contains(parts.count) && parts.allSatisfy { Directory.isName(String($0)) }
    }
}
