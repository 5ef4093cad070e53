import Assets
import Fetching
import HLS
import HTTPMessage
public import Store

extension Recording {
    /// Lists the stored items up to the first missing one. After an error the next call tries again.
    public func advance() throws(StoreError) {
        while let item = items.first, item.isComplete {
            try list(item)
            items.removeFirst()
        }
    }

    /// Lists an item as a gap as soon as the items before it are listed, for a reason that a user reads.
    public func giveUp(_ item: Item, because reason: String) {
        guard let index = items.firstIndex(where: { $0.number == item.number }), items[index].loss == nil else {
            return
        }
        items[index].loss = reason
        items[index].needed = []
        report("segment \(item.number) is missing in the recording: \(reason)")
    }

    private func list(_ item: Item) throws(StoreError) {
        var block: [UInt8] = []
        var writer = self.writer ?? RecordingWriter(beginning: item.source.playlist)
        if self.writer == nil {
            block += writer.header(of: item.source.playlist, from: item.number - item.source.shift)
        }
        do throws(PlaylistError) {
            if item.isFirstOfWindow {
                block += try writer.dateRanges(of: item.source.playlist) { name(of: $0, in: item) }
            }
            block += try lines(of: item, &writer)
        } catch {
            // Weir's own names are safe, and a playlist that was parsed can be written.
            throw StoreError(.io, path: Self.file, detail: "\(error)")
        }
        let raised = writer.raised(text, for: item.source.playlist)
        if let raised {
            // The header precedes everything: the whole file is written again only for a change of it, which is rare.
            file = nil
            try rendition.folder.write(raised + block, as: Self.file)
        } else {
            try open().append(block)
        }
        // Drop the parsed copy first: then the append to `text` copies nothing, unless a reader still holds the copy.
        parsed = nil
        self.writer = writer
        if let raised {
            text = raised
        }
        text += block
        duration += item.entry.length
        holes.append(seconds: item.entry.length, isMissing: item.isMissing)
        count += item.entry.count
        if text.count > Self.limits.bytes || count > Self.limits.segments {
            stopReason = "it is as long as a playlist may be"
        }
    }

    /// Below the limits of the parser, with room for the lines that are written at the end.
    private static let limits = (
        bytes: PlaylistLimits.standard.bytes / 8 * 7, segments: PlaylistLimits.standard.segments / 8 * 7
    )

    private func lines(of item: Item, _ writer: inout RecordingWriter) throws(PlaylistError) -> [UInt8] {
        switch item.entry {
        case .missed(let missed):
            let isCues = rendition.name.content == .subtitles
            let fileExtension = isCues ? "vtt" : "ts"
            return try writer.missed(missed) { "\(PieceName(.segment($0), fileExtension: fileExtension))" }
        case .segment(let segment, let number, let isRestart):
            let isGap = segment.isGap || item.loss != nil
            return try writer.segment(segment, number: number, isRestart: isRestart, isGap: isGap) {
                name(of: $0, in: item)
            }
        }
    }

    /// The name that replaces a URI of the origin.
    private func name(of reference: MediaPlaylist.Reference, in item: Item) -> String? {
        func absolute(_ uri: String?) -> String? { uri.flatMap { try? item.source.base.resolving($0).text } }
        return switch reference {
        case .segment: item.file?.description
        case .map: item.map?.description
        case .key(let key): rendition.number(of: key, in: item.source).map { KeyRing.uri(of: $0) }
        case .assetURI(let range): absolute(range.assetURI)
        case .assetList(let range): absolute(range.assetList)
        case .part, .preloadHint, .renditionReport: nil
        }
    }

    private func open() throws(StoreError) -> AppendedFile {
        if let file {
            return file
        }
        let opened = try rendition.folder.append(to: Self.file, length: Int64(text.count))
        file = opened
        return opened
    }

    // MARK: Closing

    /// Ends the recording. Missing items become gaps if a later item is stored, and are left out otherwise. Returns the
    /// recorded playlist; nil if nothing was recorded.
    func close() throws(StoreError) -> Rendition.Source? {
        while let last = items.last, !last.isComplete || last.isMissing {
            items.removeLast()
        }
        for item in items where !item.isComplete {
            giveUp(item, because: "the recording ended before it came")
        }
        try advance()
        guard count > 0, let writer else { return nil }
        if source?.playlist.isLive ?? true {
            try open().append(writer.end)
            parsed = nil
            text += writer.end
        }
        file = nil
        removeUnlistedPieces()
        return source
    }

    private func removeUnlistedPieces() {
        guard let playlist = source?.playlist else { return }
        var listed = Set(playlist.maps.map(\.uri))
        for segment in playlist.segments where !segment.isGap {
            listed.insert(segment.uri)
        }
        rendition.folder.removePieces { !listed.contains($0.description) }
    }
}
