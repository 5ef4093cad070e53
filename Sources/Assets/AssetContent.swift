public import EventLoop
import Fetching
public import HLS
public import HTTPMessage

/// The content of an asset: the playlist at its URL, and the renditions that this playlist lists. In memory as a whole, or only in
/// the catalogue: see `Asset.content`.
@LoopActor public final class AssetContent {
    /// The kind of playlist at the origin URL.
    public enum Entry: Sendable {
        /// A choice of variants and renditions. Mirrors are merged into one variant.
        case multivariant(MultivariantPlaylist, base: WebURL)
        /// One media playlist, which is the asset's only rendition.
        case media
    }

    let bundle: Bundle
    let keys: KeyRing
    /// False for a preview: the bundle of its name is another asset's.
    let isStored: Bool
    private let editions: PlaylistEditions
    /// The playlist at the origin URL; nil before it was fetched.
    public private(set) var entry: Entry?
    /// In the order of `MultivariantPlaylist.renditionURIs`; one element for a media playlist.
    public private(set) var renditions: [Rendition] = []
    /// Media playlists of images, in the order of `MultivariantPlaylist.imageVariants`.
    public private(set) var images: [Rendition] = [] {
        didSet { latest = nil }
    }
    /// The resources of its EXT-X-SESSION-DATA tags.
    public let sessionData: SessionDataShelf
    /// The interstitials that its playlists name.
    public var interstitials = Interstitials()
    /// Caches `additions`; nil before the first use.
    var knownAdditions: Additions?
    /// New URLs of renditions, by index, from a playlist that otherwise does not fit this one.
    private var moved: [Int: [WebURL]] = [:]
    /// True if the origin offers another choice of renditions than the stored one.
    var isOutdated = false
    /// Increases when the set of renditions is replaced.
    package private(set) var edition = 0 {
        didSet { editions.count += 1 }
    }
    private var byID: [String: Rendition] = [:] {
        didSet { latest = nil }
    }
    /// The rendition that was asked for last. A player's request asks for its own a dozen times.
    private var latest: Rendition?
    /// Computed when a playlist reports on another one.
    private var addresses: RenditionAddresses?
    /// See `MultivariantPlaylist.possibleMirrors`.
    private var possibleMirrors: [Int: [Int]] = [:]

    init(in bundle: Bundle, isStored: Bool, keys: KeyRing, editions: PlaylistEditions) {
        self.bundle = bundle
        self.isStored = isStored
        self.keys = keys
        self.editions = editions
        sessionData = SessionDataShelf(in: bundle)
    }

    /// The multivariant playlist; nil if the asset is a lone media playlist.
    public var multivariant: MultivariantPlaylist? {
        if case .multivariant(let playlist, _) = entry {
            playlist
        } else {
            nil
        }
    }

    /// The rendition of a lone media playlist, before and after it is adopted.
    package var lone: Rendition? {
        guard multivariant == nil else { return nil }
        return renditions.first
    }

    /// Returns the presentation's own rendition with this id.
    func rendition(_ id: String) -> Rendition? {
        if let latest, latest.name.id == id {
            return latest
        }
        latest = byID[id] ?? images.first { $0.name.id == id }
        return latest
    }

    /// True if the rendition still belongs to the presentation.
    package func has(_ rendition: Rendition) -> Bool {
        renditions.indices.contains(rendition.index) && renditions[rendition.index] === rendition
    }

    /// True if the catalogue can give all its playlists back, and nothing else depends on them.
    var canBeForgotten: Bool {
        entry != nil && moved.isEmpty && (renditions + images).allSatisfy(\.canForgetPlaylist)
    }

    /// The length of its playlists in memory, in bytes.
    var textSize: Int {
        let own = multivariant?.text.write().count ?? 0
        return (renditions + images).reduce(own) { $0 + $1.textSize }
    }

    // MARK: Adopting

    /// Adopts a multivariant playlist. Known renditions stay with their state; tokens and hosts may have changed.
    /// Returns the renditions that are gone; a new one may have the same name.
    func adopt(_ playlist: MultivariantPlaylist, base: WebURL, _ plan: EntryPlan) -> [Rendition] {
        acceptChoice()
        entry = .multivariant(plan.folded, base: base)
        for url in playlist.sessionKeys.compactMap({ $0.url(base: base) }) {
            keys.add(url)
        }
        sessionData.adopt(playlist.sessionData, base: base)
        let names = plan.names
        let mirrors = plan.mirrors
        let gone = adopt(mirrors.map { names[$0[0]] }, formerIndices: plan.formerIndices)
        possibleMirrors = plan.possibleMirrors
        let former = Dictionary(images.map { ($0.name.id, $0) }) { first, _ in first }
        images = plan.images.map { name in
            if let known = former[name.id], known.name == name {
                return known
            }
            return rendition(named: name)
        }
        addresses = nil
        // The store may know a mirror as a rendition of its own.
        for (rendition, set) in zip(renditions, mirrors) {
            for index in set.dropFirst() {
                byID[names[index].id] = rendition
            }
        }
        return gone
    }

    /// Makes it a lone media playlist whose content is still unknown.
    package func adoptLone() {
        if multivariant != nil {
            renditions = []
        }
        possibleMirrors = [:]
        entry = .media
        adopt([RenditionNaming.lone], formerIndices: [0])
        acceptChoice()
    }

    /// Records that the origin offers the stored choice of renditions, under the URLs of the entry.
    func acceptChoice() {
        moved = [:]
        isOutdated = false
    }

    /// - Parameter formerIndices: the former index of each; nil if there was nothing to compare with.
    @discardableResult private func adopt(_ names: [RenditionNaming.Name], formerIndices: [Int?]?) -> [Rendition] {
        let former = renditions
        let folders = Dictionary(former.map { ($0.name.id, $0.folder) }) { first, _ in first }
        renditions = names.enumerated().map { index, name in
            if let known = known(name, at: formerIndices?[index], in: former) {
                return known
            }
            // Players know the folder; each name has only one.
            return rendition(named: name, folder: folders[name.id])
        }
        for (index, rendition) in renditions.enumerated() {
            rendition.index = index
        }
        byID = Dictionary(uniqueKeysWithValues: renditions.map { ($0.name.id, $0) })
        // A text with fresh tokens changes nothing that is computed from the playlists.
        let ownIndices: [Int?] = renditions.indices.map { $0 }
        let isSame = renditions.elementsEqual(former, by: ===) && (formerIndices ?? []) == ownIndices
        if !isSame {
            edition += 1
        }
        return former.filter { !has($0) }
    }

    /// The known rendition with a name: the same as before, or one without any state that could be wrong now.
    private func known(_ name: RenditionNaming.Name, at formerIndex: Int?, in former: [Rendition]) -> Rendition? {
        if let formerIndex, former.indices.contains(formerIndex), former[formerIndex].name == name {
            return former[formerIndex]
        }
        guard let known = byID[name.id], known.name == name, !known.hasEnded else { return nil }
        return known
    }

    private func rendition(named name: RenditionNaming.Name, folder: PieceFolder? = nil) -> Rendition {
        Rendition(name, bundle: bundle, keys: keys, editions: editions, folder: folder)
    }

    // MARK: URLs

    /// The URLs of a rendition's playlist from the entry: one for each mirror, in the order of the playlist. Nil if the entry is
    /// that playlist, or is unknown.
    func urls(of rendition: Rendition) -> [WebURL]? {
        guard case .multivariant(let playlist, let base) = entry else { return nil }
        if has(rendition) {
            if let urls = moved[rendition.index] {
                return urls
            }
            return playlist.uris(ofRendition: rendition.index).compactMap { try? base.resolving($0) }
        }
        guard let index = images.firstIndex(where: { $0 === rendition }) else { return [] }
        return [playlist.imageVariants[index].uri].compactMap { try? base.resolving($0) }
    }

    /// The renditions at lines on the same host that may be mirrors of a rendition.
    func possibleMirrors(of rendition: Rendition) -> [Rendition] {
        guard has(rendition), let mirrors = possibleMirrors[rendition.index] else { return [] }
        return mirrors.map { renditions[$0] }
    }

    /// True if the media of its sources must be compared, because only the attributes of lines say that it is the same.
    func hasPossibleMirrors(_ rendition: Rendition) -> Bool {
        has(rendition) && possibleMirrors[rendition.index] != nil
    }

    func hasMirrors(_ rendition: Rendition) -> Bool {
        guard let multivariant, has(rendition) else { return false }
        return multivariant.uris(ofRendition: rendition.index).count > 1
    }

    /// The rendition of an EXT-X-RENDITION-REPORT, whose URI need not repeat tokens in the query; nil for no known one.
    /// - Parameter origin: the URL of a lone media playlist.
    func rendition(reportedAs uri: String, base: WebURL, origin: WebURL) -> Rendition? {
        guard let wanted = try? base.resolving(uri) else { return nil }
        let addresses = addresses ?? makeAddresses(origin: origin)
        self.addresses = addresses
        // After a redirect; not in a presentation of thousands, whose playlists may report on as many.
        return addresses[wanted] ?? renditions.prefix(100).first { $0.source?.base == wanted }
    }

    private func makeAddresses(origin: WebURL) -> RenditionAddresses {
        let addresses = renditions.map { rendition in
            (rendition, urls(of: rendition) ?? [origin])
        }
        return RenditionAddresses(addresses)
    }

    // MARK: Another choice at the origin

    /// True if a playlist can replace the known one: it has every rendition with stored pieces, under the same name.
    func fits(_ plan: EntryPlan) -> Bool {
        guard let formerIndices = plan.formerIndices else { return false }
        let pairs = zip(plan.mirrors, formerIndices).filter { mirrors, formerIndex in
            guard let formerIndex else { return false }
            return renditions[formerIndex].name == plan.names[mirrors[0]]
        }
        let kept = Set(pairs.compactMap(\.1))
        return renditions.indices.allSatisfy { kept.contains($0) || renditions[$0].folder.bytes == 0 }
    }

    /// Adopts new URLs of stored renditions from a playlist that does not fit. Returns true if every rendition with
    /// stored pieces is in it: then only the order of its lines has changed.
    func relocate(by plan: EntryPlan, base: WebURL) -> Bool {
        guard let formerIndices = plan.formerIndices else { return false }
        for (index, formerIndex) in formerIndices.enumerated() {
            guard let formerIndex else { continue }
            moved[formerIndex] = plan.folded.uris(ofRendition: index).compactMap { try? base.resolving($0) }
        }
        return renditions.indices.allSatisfy { moved[$0] != nil || renditions[$0].folder.bytes == 0 }
    }
}

/// Counts the replacements of an asset's playlists. Its renditions share it, so that nobody has to ask all of them.
@LoopActor final class PlaylistEditions {
    var count = 0
    nonisolated init() {}
}

// MARK: - State

/// Derives the state of the content from its playlists and pieces.
extension AssetContent {
    /// The indices in `renditionURIs` of the complete renditions.
    public var completeRenditions: Set<Int> { Set(renditions.indices.filter { renditions[$0].isComplete }) }

    /// True if the complete renditions are these. Asked for each piece that is stored.
    func completes(_ indices: Set<Int>) -> Bool {
        var count = 0
        for index in renditions.indices where renditions[index].isComplete {
            guard indices.contains(index) else { return false }
            count += 1
        }
        return count == indices.count
    }

    /// The indices in `renditionURIs` of the renditions with recorded media.
    public var recordedRenditions: Set<Int> {
        let recorded = renditions.indices.filter { index in
            guard let recording = renditions[index].recording else { return renditions[index].isComplete }
            return recording.count > 0
        }
        return Set(recorded)
    }

    /// True if every rendition that players load is complete. Trick-play playlists do not count: no player loads them.
    public var isEverythingComplete: Bool {
        entry != nil && renditions.allSatisfy { $0.name.isIFramesOnly || $0.isComplete }
    }

    /// True if the broadcast has ended, at whose URL another one may have begun.
    package var isPastBroadcast: Bool {
        !renditions.contains { $0.isRecorded || $0.isLive }
            && renditions.contains(where: \.isPastBroadcast)
    }

    /// True if another broadcast may take the place of a rendition's: nothing of the past one is stored, in whatever rendition, that it
    /// would be mixed with.
    package func mayBeginAnew(_ rendition: Rendition) -> Bool {
        rendition.isPastBroadcast && !renditions.contains { $0.folder.bytes > 0 }
    }

    // MARK: Files of the multivariant playlist that belong to no rendition

    /// The number of a session key, shared with the EXT-X-KEY of the same URL; nil if the key cannot be fetched.
    public func number(of key: Key) -> Int? {
        guard case .multivariant(_, let base) = entry else { return nil }
        return key.url(base: base).flatMap { keys.number(for: $0) }
    }

    /// The path in the bundle of a session key or session data, such as `keys/0.key`; nil if it is not stored.
    public func storedFile(of reference: MultivariantPlaylist.Reference) -> String? {
        switch reference {
        case .sessionKey(let key):
            guard let number = number(of: key), keys.isUsable(number) else { return nil }
            return path(of: KeyRing.name(number), in: keys.folder)
        case .sessionData(let data):
            guard let name = sessionData.name(of: data) else { return nil }
            return path(of: name, in: sessionData.folder)
        case .variant, .media, .iFrameVariant, .imageVariant, .steering: return nil
        }
    }

    private func path(of name: PieceName, in folder: PieceFolder) -> String? {
        guard folder.contains(name.description) else { return nil }
        return "\(folder.id)/\(name)"
    }
}
