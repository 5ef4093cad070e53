public import EventLoop
public import Fetching
import HTTPMessage
public import Playlist

/// What an asset's EXT-X-SESSION-DATA lines lead to (RFC 8216 §4.3.4.4): small files that are pieces of the asset as
/// its keys are.
@LoopActor public final class SessionDataShelf {
    /// Where they lie.
    public let folder: PieceFolder
    private var resources: [PieceName: Resource] = [:]
    private var names: [Int: PieceName] = [:]
    /// What was asked for without a player's wish; once is enough.
    private var tried: Set<PieceName> = []

    init(in bundle: Bundle) { folder = PieceFolder(id: "data", in: bundle) }

    /// Takes the lines of a playlist that came from `base`.
    func adopt(_ lines: [SessionData], base: WebURL) {
        (resources, names) = ([:], [:])
        for line in lines {
            guard let uri = line.uri, let url = try? base.resolving(uri) else { continue }
            let name = Self.name(line, url)
            names[line.index] = name
            resources[name] = resources[name] ?? Resource(name: name, url: url, range: nil)
        }
    }

    /// What a line's file is called; nil where it has no usable URI.
    public func name(of line: SessionData) -> PieceName? { names[line.index] }

    /// The resource with this name, if a line leads to it.
    public func resource(named name: PieceName) -> Resource? { resources[name] }

    /// What is not there and has not been asked for, which it now counts as.
    func takeUntried() -> [Resource] {
        let wanted = resources.values.filter { !folder.contains($0.name.description) && !tried.contains($0.name) }
        tried.formUnion(wanted.map(\.name))
        return wanted.sorted { $0.name.role.number < $1.name.role.number }
    }

    /// A line is known by DATA-ID and LANGUAGE, of which no other has both, and by the path of its URI: with another
    /// path come other data, with another query another token.
    private static func name(_ line: SessionData, _ url: WebURL) -> PieceName {
        let identity = [line.dataID, line.language ?? "", url.path].joined(separator: "\n")
        let number = Int(Fingerprint.of(Array(identity.utf8)) >> 1)
        return PieceName(.data(number), fileExtension: fileExtension(line, url.path))
    }

    /// Only what a browser that is led there shows or saves, and never runs: the origin's page must not become one of
    /// ours.
    private static func fileExtension(_ line: SessionData, _ path: String) -> String {
        guard line.format == "RAW" else { return "json" }
        let own = PieceName.extension(ofPath: path)
        return ["json", "txt", "vtt", "jpg", "jpeg", "png", "webp"].contains(own) ? own : "bin"
    }
}
