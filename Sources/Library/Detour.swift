import EventLoop
import HTTPMessage

/// The ways to one resource, for a flight: where it was asked for first, and where else it may be had when that fails.
@LoopActor final class Detour {
    private let resource: Resource
    private let folder: PieceFolder
    private let asset: Asset
    private weak var library: Library?
    private var tried: Set<WebURL>
    private var visited: Set<Int> = []

    /// - Parameter resource: as it is asked for first.
    init(around resource: Resource, in folder: PieceFolder, of asset: Asset, library: Library) {
        self.resource = resource
        self.folder = folder
        self.asset = asset
        self.library = library
        tried = [resource.url]
    }

    /// Begins anew, with one way that is about to be tried.
    func reset(_ way: Resource) {
        tried = [way.url]
        visited = []
    }

    /// Whether another way is known, so that the present one need not be insisted on.
    var isOpen: Bool {
        guard let rendition, asset.hasMirrors(rendition) else { return false }
        return asset.urls(of: rendition).count > visited.count + 1
    }

    /// The next way; nil when there is none.
    func next() async -> Resource? {
        guard let rendition, !asset.isRemoved else { return nil }
        // Another flight may have found it.
        if let known = rendition.source, let way = take(known, rendition) { return way }
        let count = asset.urls(of: rendition).count
        visited.insert(rendition.mirror)
        for turn in 0..<count {
            let place = (rendition.mirror + turn) % count
            guard visited.insert(place).inserted, let library else { continue }
            let source = await library.visit(place, of: rendition, in: asset)
            if let source, let way = take(source, rendition) { return way }
        }
        return nil
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
