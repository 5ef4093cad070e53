// The room Extras.
//
// Duty: what belongs to an asset beside its presentation: attached tracks, artwork, chapters, thumbnails, interstitials.
// Entrance: `AttachmentFiles`, `InterstitialFiles`, `ChapterList`, `ThumbnailTrack`.
// Does not enter: the presentation itself, and how extras are shown to a player (`Playback`) or on the page (`Control`).

package import Assets
package import EventLoop
import Fetching
package import HTTPMessage
import Orders
package import SegmentFormat
package import Store

/// A track to attach to an asset.
package struct AttachmentOrder: Sendable {
    package enum Content: Sendable {
        case subtitles(CueFile)
        case chapters(ChapterList)
        /// The pictures are in the order of `ThumbnailTrack.names`.
        case thumbnails(ThumbnailTrack, pictures: [Artwork])
    }

    package let content: Content
    /// For display; nil for one made of the language or the kind.
    package var name: String?
    /// An RFC 5646 tag.
    package var language: String?
    package var isForced = false
    package var isDefault = false

    package init(_ content: Content) { self.content = content }
}

/// Attaches tracks to stored assets: subtitles, chapters and thumbnails, which become folders of the bundle.
@LoopActor package struct AttachmentFiles {
    let library: Library

    /// Attaches a track. It is listed in every playlist of the asset from then on.
    ///
    /// - Throws: `notStored` if no stored segment shows where the media begins, `busy` while the asset is moved, and `store`;
    ///   nothing has changed then.
    package func attach(
        _ order: AttachmentOrder, to asset: Asset
    ) async throws(LibraryError) -> BundleIdentity.Attachment {
        try check(asset)
        guard let duration = asset.duration, let start = await MediaStart(storedOf: asset) else {
            throw LibraryError(
                .notStored,
                "nothing is attached to \(asset.name): no stored segment of it shows where the media begins")
        }
        // A text of many megabytes takes a while.
        let files = await FileLane.shared.run { _ in Self.files(order, duration: duration, start: start.ticks) }
        guard let files else {
            throw LibraryError(.busy, "nothing is attached to \(asset.name): the request was cancelled")
        }
        try asset.checkNotRemoved()
        try check(asset)
        let attachment = Self.attachment(order, in: asset)
        let content = asset.content
        let rendition = content.makeRendition(of: attachment)
        guard let source = content.attachedSource(files.playlist) else {
            throw LibraryError(.notPlaylist, "the track for \(asset.name) has no playlist that can be read")
        }
        do {
            // A folder that an interrupted command has left.
            try? asset.bundle.directory(create: true).removeTree(attachment.id)
            rendition.adopt(source)
            // Known before its pieces are: those of an unknown folder count as cached.
            content.additions.renditions[attachment.id] = rendition
            try await rendition.folder.put(files.pieces)
            try asset.checkNotRemoved()
            try check(asset)
            try rendition.folder.write(files.playlist, as: "media.m3u8")
            try change(asset) { $0.attachments.append(attachment) }
        } catch {
            content.additions.renditions[attachment.id] = nil
            try? asset.bundle.directory(create: false).removeTree(attachment.id)
            throw Self.failure(error, "the track for \(asset.name) cannot be stored")
        }
        return attachment
    }

    /// Removes an attached track, and returns its size in bytes. Throws `missing` for an unknown id, `busy` and `store`.
    package func detach(_ id: String, from asset: Asset) throws(LibraryError) -> Int64 {
        try check(asset)
        guard asset.content.additions.attachments.contains(where: { $0.id == id }),
            let rendition = asset.content.additions.renditions[id]
        else {
            let known = asset.content.additions.attachments.map(\.id)
            var sentence = "\(asset.name) has no attached track \"\(id)\"; "
            if known.isEmpty {
                sentence += "nothing is attached"
            } else {
                sentence += "there: \(known.joined(separator: ", "))"
            }
            throw LibraryError(.missing, sentence)
        }
        let bytes = rendition.folder.bytes
        do {
            try change(asset) {
                $0.attachments.removeAll { $0.id == id }
                $0.renditions[id] = nil
            }
            rendition.folder.removePieces { _ in true }
            rendition.folder.closeDirectory()
            try asset.bundle.directory(create: false).removeTree(id)
        } catch {
            throw Self.failure(error, "the track of \(asset.name) is not completely removed")
        }
        return bytes
    }

    private static func failure(_ error: any Error, _ sentence: String) -> LibraryError {
        if let error = error as? StoreError {
            return LibraryError(error, about: sentence)
        }
        return LibraryError(.notPlaylist, "\(sentence): \(error)", underlying: error)
    }

    private func check(_ asset: Asset) throws(LibraryError) {
        try library.checkWritable("\(asset.name) stays as it is")
        try library.checkBundle(of: asset)
        try library.volumes.checkPresence(of: asset)
        try library.volumes.checkNotMoving(asset)
        guard !asset.isLive, !asset.isRecording, !asset.bundle.isSuspended else {
            throw LibraryError(.busy, "\(asset.name) is live, or being recorded or moved")
        }
    }

    /// Changes the additions, and writes them to the bundle. Players see the change in the playlists that they load next.
    private func change(_ asset: Asset, _ body: (inout Additions) -> Void) throws {
        let before = asset.content.additions
        var after = before
        body(&after)
        asset.content.additions = after
        do {
            try BundlePlaylists(asset).write(leaving: asset.published)
        } catch {
            asset.content.additions = before
            throw error
        }
        library.store.applyMode(to: asset.id, in: asset.bundle.volume)
        library.summaries?.invalidate(asset)
        library.events.send(.assetChanged(asset))
    }

    // MARK: Names

    private static func attachment(_ order: AttachmentOrder, in asset: Asset) -> BundleIdentity.Attachment {
        let kind: AttachmentKind
        var size: [Int]?
        switch order.content {
        case .subtitles: kind = .subtitles
        case .chapters: kind = .chapters
        case .thumbnails(let track, let pictures):
            kind = .thumbnails
            if let grid = track.grid {
                size = [grid.width, grid.height]
            } else if track.images.count == pictures.count, track.images.allSatisfy({ $0.area == nil }) {
                if let picture = pictures.first, let found = PictureSize.of(picture) {
                    size = [found.width, found.height]
                }
            }
        }
        var base = Additions.attachedPrefix + kind.rawValue
        if kind == .subtitles, let language = order.language {
            let slug = AssetNaming.idSlug(language[...])
            if !slug.isEmpty {
                base += "-\(slug)"
            }
        }
        let id = AssetNaming.unique(base) { id in asset.content.additions.renditions[id] != nil }
        // A name that cannot be in a quoted string of a playlist (RFC 8216 §4.2) is made one.
        let given = order.name ?? order.language
        let name = (given ?? kind.rawValue).replacing("\"", with: "'")
        var attachment = BundleIdentity.Attachment(
            id: id, kind: kind, name: String(name.unicodeScalars.filter(\.isWritable)))
        attachment.language = order.language
        // Only what is true is written.
        if order.isForced {
            attachment.isForced = true
        }
        if order.isDefault {
            attachment.isDefault = true
        }
        attachment.size = size
        return attachment
    }

    // MARK: Files

    private struct Files: Sendable {
        var pieces: [(name: PieceName, bytes: [UInt8])]
        var playlist: [UInt8]
    }

    private nonisolated static func files(_ order: AttachmentOrder, duration: Double, start: UInt64) -> Files {
        let text = PieceName(.segment(0), fileExtension: "vtt")
        switch order.content {
        case .subtitles(let file):
            // One segment for the whole film: a few hundred kilobytes, and the times need no division.
            let length = max(duration, Double(file.end) / 1000)
            return Files(pieces: [(text, file.webVTT(start: start))], playlist: playlist(of: text, seconds: length))
        case .chapters(let list):
            let json = list.json(language: order.language, length: duration)
            return Files(
                pieces: [(text, list.webVTT(length: duration)), (Additions.chapterFile, json)],
                playlist: playlist(of: text, seconds: duration))
        case .thumbnails(let track, let pictures):
            let names = pictures.enumerated().map { PieceName(.segment($0), fileExtension: $1.kind.rawValue) }
            let naming = { (number: Int) in names[number].description }
            return Files(
                pieces: zip(names, pictures).map { ($0, $1.bytes) }
                    + [(Additions.timesFile, track.webVTT(naming: naming))],
                playlist: track.playlist(naming: naming))
        }
    }

    private nonisolated static func playlist(of piece: PieceName, seconds: Double) -> [UInt8] {
        let milliseconds = Int((min(max(seconds, 0.001), 1e9) * 1000).rounded(.up))
        return Array(
            """
            #EXTM3U
            #EXT-X-VERSION:3
            #EXT-X-TARGETDURATION:\((milliseconds + 999) / 1000)
            #EXT-X-MEDIA-SEQUENCE:0
            #EXT-X-PLAYLIST-TYPE:VOD
            #EXTINF:\(Double(milliseconds) / 1000),
            \(piece)
            #EXT-X-ENDLIST

            """.utf8)
    }
}

extension ChapterList {
    /// The chapters that were attached last to an asset; nil without any that can be read.
    /// - Parameter id: that of the attachment; nil for any.
    @LoopActor package init?(attachedTo asset: Asset, as id: String? = nil) {
        let additions = asset.content.additions
        guard let last = additions.attachments.last(where: { $0.kind == .chapters && (id ?? $0.id) == $0.id }),
            let folder = additions.renditions[last.id]?.folder
        else { return nil }
        let file = Additions.chapterFile.description
        guard let size = folder.sizes[file],
            let list = try? ChapterList(folder.beginning(of: file, count: Int(size)))
        else { return nil }
        self = list
    }
}

extension Unicode.Scalar {
    /// True if it can be in a quoted string of a playlist.
    fileprivate var isWritable: Bool {
        value >= 0x20 && value != 0x7F && !(0x80..<0xA0).contains(value) && value != 0x2028 && value != 0x2029
    }
}
