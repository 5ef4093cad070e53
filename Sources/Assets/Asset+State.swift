import Fetching
public import HLS
import HTTPMessage
import Orders
import Store

/// Derives the state of an asset from its playlists and pieces.
extension Asset {
    /// The places in `renditionURIs` of the complete renditions.
    public var completeRenditions: Set<Int> { Set(renditions.indices.filter { renditions[$0].isComplete }) }

    /// The absolute path of the bundle's folder, which need not exist yet.
    package var bundlePath: String { "\(bundle.place.path)/assets/\(id)" }

    /// True if any part of the asset plays without the origin.
    public var isPlayableOffline: Bool {
        guard let multivariant else { return renditions.first?.isComplete ?? false }
        return !multivariant.completeVariants(renditions: completeRenditions).isEmpty
    }

    /// True if every rendition that players load is complete. Trick-play playlists do not count: no player loads them.
    public var isEverythingComplete: Bool {
        entry != nil && renditions.allSatisfy { $0.name.isIFramesOnly || $0.isComplete }
    }

    /// True if the asset is known to be live.
    public var isLive: Bool { renditions.contains(where: \.isLive) }
    /// Total size of its pieces, in bytes.
    public var bytes: Int64 { folders.reduce(0) { $0 + $1.bytes } }

    /// Total size of its cached pieces, in bytes; `bytes` includes it.
    public var cachedBytes: Int64 {
        folders.reduce(0) { sum, folder in
            _ = folder.sizes  // The play cache counts the pieces of a folder when the folder is read.
            return sum + folder.cachedBytes
        }
    }

    /// True if its origin did not answer the latest request.
    package var isOriginAbsent: Bool { checked.map { !$0.isPresent } ?? false }
    /// The duration in seconds, from the first known playlist; nil for live streams.
    public var duration: Double? {
        renditions.lazy.compactMap { $0.source }.first { $0.isDurable }?.playlist.duration.seconds
    }
    /// True if the recording of a live stream was started, and has not ended.
    public var isRecording: Bool { renditions.contains { $0.recording != nil } }
    /// True if the asset is the ended recording of a live stream.
    public var isRecorded: Bool { renditions.contains { $0.source?.isRecorded ?? false } }

    /// The places in `renditionURIs` of the renditions with recorded media.
    public var recordedRenditions: Set<Int> {
        Set(renditions.indices.filter { renditions[$0].recording.map { $0.count > 0 } ?? renditions[$0].isComplete })
    }

    /// True if the asset is the revision of another asset, and has not replaced it yet.
    public var isRevision: Bool { revises != nil }
    /// True if the asset was imported, and has no origin.
    public var isImported: Bool { origin.isPlaceholder }
    /// True if its bundle is in the store's own folder.
    public var isHome: Bool { bundle.place.isHome }
    /// The folder of its bundle on another volume, and true if that is mounted; nil for the store's own folder.
    public var volume: (path: String, isThere: Bool)? { isHome ? nil : (bundle.place.path, bundle.absence == nil) }

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
        folder.contains(name.description) ? "\(folder.id)/\(name)" : nil
    }

    // MARK: Other content of the origin

    /// True if the playlist can replace the known one: it has every rendition with stored pieces, under the same name.
    func fits(_ plan: EntryPlan) -> Bool {
        if entry == nil || bytes == 0 {
            return true
        }
        guard let places = plan.places else { return false }
        let pairs = zip(plan.mirrors, places).filter { mirrors, place in
            place.map { renditions[$0].name == plan.names[mirrors[0]] } ?? false
        }
        let kept = Set(pairs.compactMap(\.1))
        return renditions.indices.allSatisfy { kept.contains($0) || renditions[$0].folder.bytes == 0 }
    }

    /// Adopts new URLs of stored renditions from a playlist that does not fit. Returns true if every rendition with
    /// stored pieces is in it: then only the order of its lines has changed.
    func relocate(by plan: EntryPlan, base: WebURL) -> Bool {
        guard let places = plan.places else { return false }
        for (index, place) in places.enumerated() {
            guard let place else { continue }
            moved[place] = plan.folded.uris(ofRendition: index).compactMap { try? base.resolving($0) }
        }
        return renditions.indices.allSatisfy { moved[$0] != nil || renditions[$0].folder.bytes == 0 }
    }

    /// True if the origin is known to have other content than the store.
    public var hasChanged: Bool { hasOtherSegments || isOutdated || renditions.contains(where: \.isOutdated) }

    // MARK: Broadcasts

    /// True if its broadcast has ended, at whose URL another one may have begun.
    package var isPastBroadcast: Bool { !isRecorded && !isLive && renditions.contains(where: \.isPastBroadcast) }

    /// True if another broadcast may take the place of a rendition's: nothing of the past one is stored, in whatever rendition, that it
    /// would be mixed with.
    package func mayBeginAnew(_ rendition: Rendition) -> Bool {
        rendition.isPastBroadcast && !renditions.contains { $0.folder.bytes > 0 }
    }

    // MARK: Expired keys

    /// The error if only expired or revoked keys keep the asset from playing without the origin; nil otherwise.
    public var keyExpiry: LibraryError? {
        guard !isPlayableOffline, let rendition = renditions.first(where: { !$0.isComplete && $0.isStored }) else {
            return nil
        }
        return keyExpiry(of: rendition)
    }

    /// The error if only expired or revoked keys keep a rendition from playing.
    public func keyExpiry(of rendition: Rendition) -> LibraryError {
        let states = rendition.expiredKeys.map { keys.state(of: $0) }
        let hasExpired = states.contains(.expired)
        let what = rendition.name.displayName.map { "\(name) \($0)" } ?? name
        guard states.count > 1 else {
            return keyError("the key of \(what) \(hasExpired ? "has expired" : "was revoked")")
        }
        return keyError(hasExpired ? "the keys of \(what) have expired" : "keys of \(what) were revoked")
    }

    /// The error if an expired or revoked key is requested.
    public func keyExpiry(of number: Int) -> LibraryError {
        let words = keys.state(of: number) == .revoked ? "was revoked" : "has expired"
        return keyError("key \(number) of \(name) \(words)")
    }

    private func keyError(_ sentence: String) -> LibraryError {
        LibraryError(.keyExpired, "\(sentence); renew with: weir keys \(name) --renew")
    }
}
