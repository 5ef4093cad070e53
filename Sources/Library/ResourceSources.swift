import EventLoop
import Fetching
import HTTPMessage
import Playlist

/// The sources of one resource of an asset: the URL that its playlist names, mirrors of the rendition, and URLs renewed
/// after a refusal.
@LoopActor final class ResourceSources: AlternateSources {
    private let resource: Resource
    private let folder: PieceFolder
    private let asset: Asset
    private weak var library: Library?
    private var tried: Set<WebURL>
    private var visited: Set<Int> = []
    /// How much of the rendition had come when fresh URLs were last asked for on behalf of this resource; nil before.
    private var renewedAt: Int?

    /// - Parameter resource: as it is asked for first.
    init(around resource: Resource, in folder: PieceFolder, of asset: Asset, library: Library) {
        self.resource = resource
        self.folder = folder
        self.asset = asset
        self.library = library
        tried = [resource.url]
    }

    /// Begins anew, with one way that is about to be tried.
    func reset(_ location: Resource) {
        tried = [location.url]
        (visited, renewedAt) = ([], nil)
    }

    /// Whether it is a segment that is encrypted as a whole.
    var isEncryptedInBlocks: Bool {
        guard case .segment(let number) = resource.name.role else { return false }
        return rendition?.source?.segment(number)?.keys.contains { $0.method == .aes128 } ?? false
    }

    /// Something of the resource came.
    func recordArrival() {
        asset.pace.arrived()
        rendition?.pace.arrived()
    }

    /// Whether another way is known, so that the present one need not be insisted on.
    var hasUntried: Bool {
        guard let rendition, asset.hasMirrors(rendition) else { return false }
        return asset.urls(of: rendition).count > visited.count + 1
    }

    /// The next way, after one failed; nil when there is none.
    func next(after error: FetchError) async -> Resource? {
        guard let rendition, !asset.isRemoved else { return nil }
        // Another fetch may have found it.
        if let known = rendition.source, let way = take(known, rendition) { return way }
        if error.code == .originRefused, let way = await renewed(rendition) { return way }
        let (first, count) = (rendition.mirror, asset.urls(of: rendition).count)
        visited.insert(first)
        for turn in 0..<count {
            let place = (first + turn) % count
            guard visited.insert(place).inserted, let library else { continue }
            let source = await library.visit(place, of: rendition, in: asset)
            if let source, let way = take(source, rendition) { return way }
        }
        return nil
    }

    /// The same way with a URL as it is signed now.
    private func renewed(_ rendition: Rendition) async -> Resource? {
        // Others may have used up what was had the last time: as long as any of them gets on, so may this one.
        guard let library, renewedAt.map({ $0 < rendition.pace.arrivals }) ?? true else { return nil }
        renewedAt = rendition.pace.arrivals
        return await library.renew(rendition, in: asset).flatMap { take($0, rendition) }
    }

    private func take(_ source: Rendition.Source, _ rendition: Rendition) -> Resource? {
        guard let way = rendition.resource(named: resource.name, in: source), tried.insert(way.url).inserted else {
            return nil
        }
        return way
    }

    /// The rendition that names it; of several that have one key, the first.
    private var rendition: Rendition? {
        guard case .key(let number) = resource.name.role else { return asset.rendition(folder.id) }
        return asset.renditions.first { $0.keyNumbers.contains(number) }
    }
}
