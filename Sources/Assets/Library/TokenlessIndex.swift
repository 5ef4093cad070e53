import EventLoop
import HTTPMessage

/// Finds assets whose URLs differ from a given one only in tokens. It keeps hashes: for 100,000 assets, their URLs without tokens
/// would take 20 MB.
@LoopActor final class TokenlessIndex {
    /// By the hash of the URL without its tokens.
    private var assets: [Int: Asset] = [:]
    /// Further assets with the hash of another one.
    private var others: [Int: [Asset]] = [:]
    /// Assets that are not hashed yet: a start reads many, and need not know this of any.
    private var pending: [Asset] = []

    nonisolated init() {}

    func add(_ asset: Asset) { pending.append(asset) }

    /// Removes an asset, which has still the URL with which it was added.
    func remove(_ asset: Asset) {
        let hash = TokenlessURL(asset.origin).hashValue
        if assets[hash] === asset {
            assets[hash] = others[hash]?.popLast()
        } else {
            others[hash]?.removeAll { $0 === asset }
        }
        if others[hash]?.isEmpty ?? false {
            others[hash] = nil
        }
    }

    /// The assets of the library with a URL like this one, by name.
    func assets(like url: WebURL) async -> [Asset] {
        var slice = LoopSlice()
        while let asset = pending.popLast() {
            insert(asset)
            await slice.giveWay()
        }
        let identity = TokenlessURL(url)
        let found = [assets[identity.hashValue]].compactMap(\.self) + (others[identity.hashValue] ?? [])
        return found.filter { TokenlessURL($0.origin) == identity }.sorted { $0.name < $1.name }
    }

    private func insert(_ asset: Asset) {
        guard asset.library?.asset(id: asset.id) === asset else { return }
        let hash = TokenlessURL(asset.origin).hashValue
        if assets[hash] == nil {
            assets[hash] = asset
        } else if assets[hash] !== asset, !(others[hash]?.contains { $0 === asset } ?? false) {
            others[hash, default: []].append(asset)
        }
    }
}
