import Fetching
import HLS
import HTTPMessage
import Orders
import Store

/// Derives the state of an asset from its playlists and pieces.
extension Asset {
    /// The absolute path of the bundle's folder, which need not exist yet.
    package var bundlePath: String { "\(bundle.volume.path)/assets/\(id)" }

    /// True if any part of the asset plays without the origin.
    public var isPlayableOffline: Bool {
        guard let multivariant else { return renditions.first?.isComplete ?? false }
        return !multivariant.completeVariants(renditions: content.completeRenditions).isEmpty
    }

    /// True if the asset is known to be live. A recording that has ended is not, although it may know live playlists of which
    /// nothing was recorded.
    public var isLive: Bool {
        if isChannelRecording, isRecorded, !isRecording {
            return false
        }
        for rendition in renditions where rendition.isLive {
            return true
        }
        return false
    }
    /// Total size of its pieces, in bytes.
    ///
    /// A file that is listed more than once is stored, and counted, once.
    public var bytes: Int64 {
        var lists: [PieceList] = []
        forEachFilledFolder { lists.append($0.pieceList) }
        return PieceList.bytes(of: lists)
    }
    /// The bytes that a verification reads: those of a file for each time that it is listed.
    package var bytesByName: Int64 {
        var sum: Int64 = 0
        forEachFilledFolder { sum += $0.pieceList.bytesByName }
        return sum
    }

    /// Total size of its cached pieces, in bytes; `bytes` includes it.
    public var cachedBytes: Int64 {
        var sum: Int64 = 0
        // The play cache counts the pieces of a folder when the folder is read.
        forEachFilledFolder { sum += $0.cachedBytes }
        return sum
    }

    /// Calls `body` for each folder with pieces. Of most of a list of thousands nothing is stored.
    private func forEachFilledFolder(_ body: (PieceFolder) -> Void) {
        noteAbsentFolders()
        forEachFolder { folder in
            if !folder.sizes.isEmpty {
                body(folder)
            }
        }
    }

    /// Finds out by one look at the bundle which folders do not exist, if many were not read yet.
    func noteAbsentFolders() {
        var unread = 0
        forEachFolder { folder in
            if folder.known == nil {
                unread += 1
            }
        }
        guard unread > Self.fewFolders, let names = bundle.names else { return }
        forEachFolder { folder in
            if !names.contains(folder.id) {
                folder.noteAbsence()
            }
        }
    }

    /// So many folders are opened one by one.
    private static var fewFolders: Int { 32 }

    /// True if its origin did not answer the latest request.
    package var isOriginAbsent: Bool {
        guard let latest = entryChecks.latest else { return false }
        return !latest.isPresent
    }

    /// The duration in seconds, from the first known playlist; nil for live streams.
    public var duration: Double? {
        for rendition in renditions {
            if let source = rendition.source, source.isDurable {
                return source.playlist.duration.seconds
            }
        }
        return nil
    }
    /// True if the asset is a recording of a channel, which is an asset of its own.
    public var isChannelRecording: Bool { recordingOf != nil }
    /// True if the recording of a live stream was started, and has not ended.
    public var isRecording: Bool {
        // Loops here and above: each segment asks these questions, and a closure of the loop's actor checks its thread at each call.
        for rendition in renditions where rendition.recording != nil {
            return true
        }
        return false
    }
    /// True if the asset is the ended recording of a live stream.
    public var isRecorded: Bool {
        for rendition in renditions where rendition.isRecorded {
            return true
        }
        return false
    }

    /// True if the asset is the revision of another asset, and has not replaced it yet.
    public var isRevision: Bool { revises != nil }
    /// True if the asset was imported, and has no origin.
    public var isImported: Bool { origin.isPlaceholder }
    /// True if its bundle is in the store's own folder.
    public var isHome: Bool { bundle.volume.isHome }
    /// The folder of its bundle on another volume, and true if that is mounted; nil for the store's own folder.
    public var volume: (path: String, isThere: Bool)? {
        guard !isHome else { return nil }
        return (bundle.volume.path, bundle.absence == nil)
    }

    // MARK: Other content of the origin

    /// True if the playlist can replace the known one: it has every rendition with stored pieces, under the same name.
    func fits(_ plan: EntryPlan) -> Bool { content.entry == nil || bytes == 0 || content.fits(plan) }

    /// True if the origin is known to have other content than the store.
    public var hasChanged: Bool { hasOtherSegments || content.isOutdated || renditions.contains(where: \.isOutdated) }

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
        var what = name
        if let displayName = rendition.name.displayName {
            what += " \(displayName)"
        }
        switch (states.count > 1, hasExpired) {
        case (false, true): return keyError("the key of \(what) has expired")
        case (false, false): return keyError("the key of \(what) was revoked")
        case (true, true): return keyError("the keys of \(what) have expired")
        case (true, false): return keyError("keys of \(what) were revoked")
        }
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
