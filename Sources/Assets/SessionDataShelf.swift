public import EventLoop
public import Fetching
public import HLS
import HTTPMessage

/// The resources of an asset's EXT-X-SESSION-DATA tags (RFC 8216 §4.3.4.4), which are pieces as its keys are.
@LoopActor public final class SessionDataShelf {
    /// The folder of the files.
    public let folder: PieceFolder
    private var resources: [PieceName: Resource] = [:]
    private var names: [Int: PieceName] = [:]
    /// Resources that were fetched without a player's request; one attempt is enough.
    private var tried: Set<PieceName> = []

    init(in bundle: Bundle) { folder = PieceFolder(id: "data", in: bundle) }

    func adopt(_ lines: [SessionData], base: WebURL) {
        resources = [:]
        names = [:]
        for line in lines {
            guard let uri = line.uri, let url = try? base.resolving(uri) else { continue }
            let name = Self.name(line, url)
            names[line.index] = name
            resources[name] = resources[name] ?? Resource(name: name, url: url, range: nil)
        }
    }

    /// The file name of a tag; nil if it has no usable URI.
    public func name(of line: SessionData) -> PieceName? { names[line.index] }
    /// The resource with this name, if a tag names it.
    public func resource(named name: PieceName) -> Resource? { resources[name] }

    /// Returns the missing resources that were not tried yet, and marks them as tried.
    func markUntried() -> [Resource] {
        let untried = resources.values.filter { !folder.contains($0.name.description) && !tried.contains($0.name) }
        tried.formUnion(untried.map(\.name))
        return untried.sorted { $0.name.role.number < $1.name.role.number }
    }

    /// A tag is identified by DATA-ID and LANGUAGE, which are unique together, and by the path of its URI: another path
    /// means other data, another query means another token.
    private static func name(_ line: SessionData, _ url: WebURL) -> PieceName {
        let identity = [line.dataID, line.language ?? "", url.path].joined(separator: "\n")
        let number = Int(Fingerprint.of(Array(identity.utf8)) >> 1)
        return PieceName(.data(number), fileExtension: fileExtension(line, url.path))
    }

    /// Allows only types that browsers never run: a page of the origin must not gain the rights of Weir's own pages.
    private static func fileExtension(_ line: SessionData, _ path: String) -> String {
        guard line.format == "RAW" else { return "json" }
        let known = PieceName.extension(ofPath: path)
        guard ["json", "txt", "vtt", "jpg", "jpeg", "png", "webp"].contains(known) else { return "bin" }
        return known
    }
}
