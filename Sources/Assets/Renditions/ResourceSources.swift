import EventLoop
import Fetching
import HLS
import HTTPMessage
import Origin

/// The sources of one resource: the URL in its playlist, mirrors of the rendition, and URLs renewed after a refusal.
@LoopActor final class ResourceSources: AlternateSources {
    private let resource: Resource
    private let folder: PieceFolder
    private let asset: Asset
    private weak var library: Library?
    /// The URL that is tried first, and those after it.
    private var first: WebURL
    private var tried: Set<WebURL> = []
    private var visited: Set<Int> = []
    private let pace = MirrorPace()
    /// True if a URL that was refused was asked for again.
    private var hasAskedAgain = false
    /// The rendition's count of arrivals at the last renewal for this resource; nil before.
    private var renewedAt: Int?

    /// - Parameter resource: with the URL that is tried first.
    init(around resource: Resource, in folder: PieceFolder, of asset: Asset, library: Library) {
        self.resource = resource
        self.folder = folder
        self.asset = asset
        self.library = library
        first = resource.url
    }

    func reset(_ location: Resource) {
        first = location.url
        tried = []
        visited = []
        renewedAt = nil
        hasAskedAgain = false
    }

    /// Found when the first bytes arrive: a live playlist may have dropped the segment when the last do.
    private(set) lazy var encryption = {
        guard let source = rendition?.source else { return ResourceEncryption.whole }
        switch resource.name.role {
        case .segment(let number):
            guard let segment = source.segment(number) else { return .whole }
            return ResourceEncryption(of: segment.keys)
        case .initialization:
            // One under AES-128 need not be padded as segments are: players decrypt it in the same way, or not at all.
            guard ResourceEncryption(of: source.playlist.keys) == .partial else { return .whole }
            return .partial
        case .key, .passing, .data: return .whole
        }
    }()

    /// The last segment of a playlist that has ended may be empty, and each segment of subtitles: some packagers write nothing
    /// where nobody speaks, or have the head in EXT-X-MAP. Cues are not worth a second request for each segment of a recording.
    var emptyAnswer: EmptyAnswer {
        if rendition?.name.content == .subtitles, case .segment = resource.name.role {
            guard asset.isChannelRecording else { return .contentIfRepeated }
            return .content
        }
        guard let source = rendition?.source, source.isDurable, let last = source.playlist.segments.last,
            rendition?.name(of: last) == resource.name
        else { return .fault }
        return .contentIfRepeated
    }

    /// Records that data of the resource arrived.
    func recordArrival() {
        asset.entryChecks.pace.recordArrival()
        rendition?.urls.pace.recordArrival()
        if renewedAt != nil {
            rendition?.urls.isRenewalUseless = false
        }
    }

    func recordOddity(_ oddity: String) {
        library?.reportOddity(oddity, of: resource.name, in: folder, of: asset)
    }

    /// True if an untried source is known, so that the present one may be given up early.
    var hasUntried: Bool {
        guard let rendition, asset.content.hasMirrors(rendition) else { return false }
        return asset.urls(of: rendition).count > visited.count + 1
    }

    func next(
        after error: FetchError, isForPlayer: Bool, isAwaited: @escaping @LoopActor () -> Bool
    ) async -> Resource? {
        guard let rendition, !asset.isRemoved else { return nil }
        if let found = current(in: rendition) {
            return found
        }
        if error.code == .originRefused || renewedAt == nil {
            if error.code == .originRefused || mayHaveExpired(error, rendition) {
                if let renewed = await renewed(rendition) {
                    return renewed
                }
                if error.code != .originRefused {
                    rendition.urls.isRenewalUseless = true
                }
            }
        } else if isDoubtful(error) {
            rendition.urls.isRenewalUseless = true
        }
        if let found = current(in: rendition) {
            return found
        }
        let first = rendition.urls.mirror
        let count = asset.candidateURLs(of: rendition).count
        // A live playlist stays until the next reload, even if another mirror has answered since.
        visited.insert(rendition.source?.mirror ?? first)
        for turn in 0..<count {
            let mirror = (first + turn) % count
            guard visited.insert(mirror).inserted, let library else { continue }
            guard await pace.mayVisit(while: isAwaited) else { return nil }
            let source = await library.playlists.visit(mirror, of: rendition, in: asset, for: resource.name)
            if let source, let untried = untried(in: source, rendition) {
                return untried
            }
        }
        // An origin that refuses some of its requests may answer the next one: other resources of the rendition arrived.
        // A download pauses before it asks again.
        guard error.code == .originRefused || isForPlayer && isDoubtful(error), !hasAskedAgain,
            rendition.urls.pace.arrivals > 0
        else { return nil }
        hasAskedAgain = true
        return rendition.source.flatMap { rendition.resource(named: resource.name, in: $0) }
    }

    /// The resource in the rendition's present source, unless that was tried: another fetch may have found that source.
    private func current(in rendition: Rendition) -> Resource? {
        rendition.source.flatMap { untried(in: $0, rendition) }
    }

    /// True if a session that has expired may explain the error. A live playlist is renewed by its reloads.
    private func mayHaveExpired(_ error: FetchError, _ rendition: Rendition) -> Bool {
        !rendition.urls.isRenewalUseless && !rendition.isLive && isDoubtful(error)
    }

    /// True for 404, 400 and others, or a page or nothing in place of media: expired sessions are answered like that, and
    /// busy origins do it for a moment.
    private func isDoubtful(_ error: FetchError) -> Bool {
        guard let origin = error.underlying as? OriginError else { return error.code == .badOrigin }
        return origin.code == .notFound || origin.code == .unexpectedStatus
    }

    private func renewed(_ rendition: Rendition) async -> Resource? {
        // Other fetches may have used up the URLs of the last renewal: try again while any of them makes progress.
        guard let library, renewedAt.map({ $0 < rendition.urls.pace.arrivals }) ?? true else { return nil }
        renewedAt = rendition.urls.pace.arrivals
        if let source = await library.playlists.renew(rendition, in: asset) {
            return untried(in: source, rendition)
        }
        return rendition.urls.otherSession.flatMap { alike(in: $0, rendition) }
    }

    /// Finds this segment in a session with other advertisements: with an equal URL but for the token, and an equal duration.
    private func alike(in source: Rendition.Source, _ rendition: Rendition) -> Resource? {
        guard case .segment(let number) = resource.name.role, let known = rendition.source?.segment(number) else {
            return nil
        }
        let identity = TokenlessURL(resource.url)
        for segment in source.playlist.segments where segment.duration == known.duration && !segment.isGap {
            guard let url = try? source.base.resolving(segment.uri), TokenlessURL(url) == identity,
                segment.byteRange == known.byteRange
            else { continue }
            guard recordTrial(of: url) else { return nil }
            return Resource(name: resource.name, url: url, range: resource.range)
        }
        return nil
    }

    /// Returns the resource with its URL in a playlist, unless that URL was tried; marks it as tried.
    private func untried(in source: Rendition.Source, _ rendition: Rendition) -> Resource? {
        // After a restart, the name of an old segment stands for none of a mirror's new list.
        if case .segment(let number) = resource.name.role, source.shift != 0,
            rendition.source?.segment(number) == nil
        {
            return nil
        }
        let found =
            rendition.resource(named: resource.name, in: source)
            ?? rendition.counterpart(of: resource.name, in: source)
        guard let found, recordTrial(of: found.url) else { return nil }
        return found
    }

    /// Returns false if the URL was tried before.
    private func recordTrial(of url: WebURL) -> Bool { url != first && tried.insert(url).inserted }

    /// The rendition that names it; for a key, the first of those that use it.
    private var rendition: Rendition? {
        guard case .key(let number) = resource.name.role else { return asset.rendition(folder.id) }
        return asset.renditions.first { $0.keyNumbers.contains(number) || $0.hasLiveKey(number) }
    }
}

extension ResourceEncryption {
    fileprivate init(of keys: [Key]) {
        let methods = keys.map(\.method)
        if methods.contains(.aes128) {
            self = .inBlocks
        } else {
            let isWhole = methods.contains { $0 == .aes256GCM || $0 == .other }
            self = isWhole ? .whole : .partial
        }
    }
}
