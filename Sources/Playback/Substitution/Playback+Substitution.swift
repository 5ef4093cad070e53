import EventLoop
import Fetching
import Glibc
import HTTPMessage
import HTTPServer
import Library
import SegmentFormat
import Substitution

/// Serves segments with substitution: pieces of several renditions in one playlist.
extension Playback {
    /// A segment request with the substitutes for it.
    struct Slot {
        let place: RequestedFolder
        let composition: Composition
        /// The renditions that can substitute.
        let substitutes: SegmentSubstitutes
        let name: PieceName
        /// The file name in the URL.
        let file: String

        /// Media type of the file that the URL names.
        var mediaType: MediaType { MediaType(forExtension: name.fileExtension) }
    }

    /// Returns the slot of a file; nil if it is no segment or has no possible substitute.
    func slot(_ place: RequestedFolder, _ file: String) -> Slot? {
        guard let name = PieceName(file), case .segment = name.role, let composition = place.composition,
            let rendition = place.asset.rendition(place.folder.id),
            let substitutes = substitutions.substitutes(of: rendition, in: place.asset)
        else { return nil }
        return Slot(place: place, composition: composition, substitutes: substitutes, name: name, file: file)
    }

    /// Answers from the store if substitutes were, or may have been, sent in this rendition. Returns false if the
    /// request must be answered in another way.
    func answered(_ exchange: Exchange, _ slot: Slot, _ tells: Bool) -> Bool {
        let began = slot.composition.source(of: slot.file)
        let own = slot.place.folder.open(slot.file)
        let situation = SegmentSource.Situation(
            continuesSubstitute: began != nil && exchange.isAmid, isStored: own != nil,
            joining: slot.composition.joining)
        switch SegmentSource(situation, hasSubstitute: slot.substitutes.has(slot.name, of: began)) {
        case .substitute:
            if let own { close(own) }
            return substituted(exchange, slot, of: began, ended: slot.place.record.stored)
        case .piece(isSpliced: true):
            guard let own else { return false }
            return sentJoined(exchange, slot, own, tells)
        case .piece, .fetch, .refused:
            if let own { close(own) }
            return false
        }
    }

    /// Answers with the rendition's own piece, spliced. Returns false if it must be sent unchanged.
    ///
    /// - Parameter own: the open piece; ownership passes to this function.
    private func sentJoined(_ exchange: Exchange, _ slot: Slot, _ own: Int32, _ tells: Bool) -> Bool {
        guard let splice = rejoined(slot, own, exchange) else {
            close(own)
            return false
        }
        took(slot.file, slot.place, exchange, tells)
        var reply = SplicedReply(splice: splice, mediaType: slot.mediaType)
        reply.isOther = returned(to: slot)
        reply.send(own, to: exchange)
        return true
    }

    /// Answers with another rendition's piece. Returns false if there is no substitute.
    ///
    /// - Parameters:
    ///   - rendition: the only substitute that is allowed; nil for any.
    ///   - error: the origin's failure; nil if the origin was not asked.
    ///   - fetch: the fetch that has just received the piece; nil if it was stored before.
    ///   - ended: called with the end of the reply; nil if the caller already handles it.
    func substituted(
        _ exchange: Exchange, _ slot: Slot, of rendition: String? = nil, after error: LibraryError? = nil,
        broughtBy fetch: Fetch? = nil, ended: (@LoopActor (ReplyEnd) -> Void)?
    ) -> Bool {
        let composition = slot.composition
        let isAfterSplice = !composition.isApart
        guard let found = slot.substitutes.open(slot.name, isAfterSplice: isAfterSplice, of: rendition) else {
            return false
        }
        let standIn = found.rendition.name.id
        if let ended { note(slot.file, slot.place, exchange, ended: ended) }
        slot.place.record.stoodIn(standIn, for: slot.name, of: slot.place.folder.id, isStored: fetch == nil)
        composition.advance(to: found.splice == nil ? .perhaps : .joined)
        var reply = SplicedReply(standIn: standIn, splice: found.splice, mediaType: slot.mediaType)
        reply.isOther = exchange.isAmid && composition.source(of: slot.file) != standIn
        if let fetch { reply.status = CacheStatus.of(fetch) }
        if let error { reply.status = CacheStatus.forwarded(.uriMiss, isStored: false).refused(error) }
        composition.sent(standIn, for: slot.file)
        reply.send(found.descriptor, to: exchange)
        return true
    }

    /// Answers with a substitute after the origin was asked, and records the origin's failure.
    func substituted(_ exchange: Exchange, _ request: SegmentRequest, after error: LibraryError) -> Bool {
        guard let slot = request.slot, substituted(exchange, slot, after: error, ended: nil) else { return false }
        sessions.failed(Failure(error, status: 200, about: request.subject))
        return true
    }

    /// Answers with a complete fetch; spliced if substitutes were sent before.
    func sendWhole(_ fetch: Fetch, to exchange: Exchange, _ slot: Slot) {
        if slot.composition.joining == .joined { return send(fetch, to: exchange, slot) }
        PieceReply.send(fetch, slot.mediaType, to: exchange)
    }

    /// Answers with a complete fetch, spliced. Splicing needs all boxes of the file.
    private func send(_ fetch: Fetch, to exchange: Exchange, _ slot: Slot) {
        let descriptor = fcntl(fetch.descriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return exchange.reply(.internalServerError, "The piece cannot be read.") }
        var reply = SplicedReply(mediaType: slot.mediaType)
        reply.splice = rejoined(slot, descriptor, exchange)
        reply.isOther = returned(to: slot)
        reply.status = CacheStatus.of(fetch)
        reply.send(descriptor, to: exchange)
    }

    /// Returns the splice of the rendition's own piece; nil if it is sent unchanged. Records a piece that is not media.
    private func rejoined(_ slot: Slot, _ descriptor: Int32, _ exchange: Exchange) -> Splice? {
        do {
            return try slot.substitutes.ownSplice(slot.name, descriptor)
        } catch {
            let subject = Subject(slot.place.session, slot.place.asset, exchange.head.path)
            sessions.failed(Failure(unjoined: error, about: subject))
            return nil
        }
    }

    /// Records that a slot is answered with its own piece. Returns true if it was answered with a substitute before.
    private func returned(to slot: Slot) -> Bool {
        let wasOther = slot.composition.source(of: slot.file) != nil
        slot.composition.sent(nil, for: slot.file)
        slot.place.record.stoodIn(nil, for: slot.name, of: slot.place.folder.id)
        return wasOther
    }
}

extension Exchange {
    /// True if the request asks for a range that does not begin at the first byte.
    var isAmid: Bool {
        guard let range = head.onlyValue(of: .range).flatMap({ ByteRange($0) }) else { return false }
        switch range {
        case .from(0), .bounded(first: 0, last: _): return false
        case .from, .bounded, .suffix: return true
        }
    }
}
