import EventLoop
import Fetching
import HTTPMessage
import HTTPServer
import Library
import Playheads
import Substitution

/// Serves segments, initialization sections, keys and session data, from the store or from the origin.
extension Playback {
    /// Answers a request for a file by asset id and folder name, if both exist.
    func piece(_ exchange: Exchange, _ id: String, _ session: Session, _ folder: String, _ file: String) {
        guard let asset = library.presentation(id: id), let pieces = asset.folder(folder) else {
            return exchange.reply(.notFound, "There is no such asset or rendition.")
        }
        if expired(exchange, asset, session) { return }
        let cursor = library.playheads.cursor(of: session.id, in: asset, folder)
        let record = sessions.record(of: session, asset, exchange)
        let place = RequestedFolder(
            asset: asset, session: session, folder: pieces, cursor: cursor, record: record, substitutions)
        shelf.remember(place, exchange.head.pathBytes)
        piece(exchange, place, file)
    }

    /// Answers a request for a file of a folder that was found.
    func piece(_ exchange: Exchange, _ place: RequestedFolder, _ file: String) {
        let tells = place.record.hears(exchange.head)
        if refusedForExpiredKey(exchange, place, file, tells) { return }
        if !adapted(exchange, place, file, tells) { own(exchange, place, file, tells) }
    }

    /// Answers with the named file itself, or with a substitute if the file is not available.
    func own(_ exchange: Exchange, _ place: RequestedFolder, _ file: String, _ tells: Bool) {
        let pieces = place.folder
        if let composition = place.composition, !composition.isApart, let slot = slot(place, file),
            answered(exchange, slot, tells)
        {
            return
        }
        if let small = shelf.smallPiece(file) {
            pieces.recordUse(of: file)
            took(file, place, exchange, tells)
            return exchange.reply(small.representation, .bytes(small.bytes))
        }
        if let descriptor = pieces.open(file) {
            took(file, place, exchange, tells)
            let small = PieceReply.send(descriptor, shelf.type(of: file), to: exchange)
            if let small { shelf.keep(small, as: file) }
            return
        }
        absent(exchange, place, file, tells)
    }

    /// Answers a request for a file that is not stored.
    func absent(_ exchange: Exchange, _ place: RequestedFolder, _ file: String, _ tells: Bool) {
        let (asset, slot) = (place.asset, self.slot(place, file))
        let resource = PieceName(file).flatMap { asset.resource($0, in: place.folder) }
        let subject = Subject(place.session, asset, resource?.url.replacingQuery(nil).text ?? exchange.head.path)
        let mayAsk = place.session.mode != .offline && !library.isOffline
        let situation = SegmentSource.Situation(
            mayAsk: mayAsk && resource != nil, joining: place.composition?.joining ?? .apart)
        switch SegmentSource(situation, hasSubstitute: slot.map { $0.substitutes.has($0.name) } ?? false) {
        case .fetch(let isSpliced):
            guard let resource else { return }
            let waits = isSpliced && slot?.substitutes.needsCompleteSegments ?? false
            fetch(
                resource, exchange, SegmentRequest(place: place, file: file, slot: slot, subject: subject),
                isWhole: waits)
        case .substitute where slot.map { substituted(exchange, $0, ended: place.record.stored) } ?? false:
            if tells { library.playheads.catchUp() }
        case .substitute, .refused, .piece:
            let error =
                resource == nil
                ? LibraryError(.missing, "there is no such segment")
                : LibraryError(.notStored, "this segment is not in the store, and Weir is offline")
            refuse(exchange, error, about: subject)
        }
    }

    /// Records a request that is answered from the store. If the player sent data about itself (CMCD), the tracker
    /// catches up at once, because the data describes this moment.
    func took(_ file: String, _ place: RequestedFolder, _ exchange: Exchange, _ tells: Bool) {
        note(file, place, exchange, ended: place.record.stored)
        if tells || !place.record.hasStarted { library.playheads.catchUp() }
    }

    /// Records a request that is answered from the store. A HEAD request does not count as a segment request. A range
    /// beyond the end is detected only when the answer is made.
    func note(
        _ file: String, _ place: RequestedFolder, _ exchange: Exchange, ended: @escaping @LoopActor (ReplyEnd) -> Void
    ) {
        exchange.onEnd = ended
        guard exchange.head.method == .get, let cursor = place.cursor else { return }
        guard exchange.isAmid else { return cursor.served(file) }
        exchange.onEnd = { end in
            ended(end)
            if end.status.map({ $0 < 400 }) ?? false { cursor.served(file) }
        }
    }

    /// A segment request that waits for the origin, with everything that decides its answer.
    struct SegmentRequest {
        let place: RequestedFolder
        let file: String
        /// Set if other renditions can substitute for the segment.
        let slot: Slot?
        let subject: Subject
    }

    /// Answers with the bytes that the origin sends.
    ///
    /// - Parameter isWhole: true if the reply must wait for the last byte.
    private func fetch(_ resource: Resource, _ exchange: Exchange, _ request: SegmentRequest, isWhole: Bool) {
        let place = request.place
        let fallback = fallback(for: request, isWhole: isWhole)
        if fallback != .none, stoodIn(for: resource, exchange, request) { return }
        do {
            let fetch = try library.fetch(
                resource, in: place.folder, of: place.asset, urgency: .playback, fallback: fallback)
            place.record.adapter?.link.follow(fetch)
            if fallback != .none, let slot = request.slot, slot.substitutes.needsSplice(slot.name) {
                slot.composition.advance(to: .perhaps)
            }
            follow(fetch, exchange, request, isWhole: isWhole || fallback == .untilComplete)
        } catch {
            if let slot = request.slot, substituted(exchange, slot, after: error, ended: place.record.stored) { return }
            refuse(exchange, error, about: request.subject)
        }
    }

    /// Returns the point up to which a substitute can replace the fetch. No substitution is possible once the first
    /// byte is sent. So a player that has media in its buffer gets the segment only when it is complete, which takes no
    /// longer.
    private func fallback(for request: SegmentRequest, isWhole: Bool) -> Fetch.Fallback {
        guard let slot = request.slot, slot.substitutes.has(slot.name) else { return .none }
        return isWhole || buffer(of: request.place.session) > 0 ? .untilComplete : .untilBegun
    }

    /// Answers with a substitute, without asking the origin, if the same resource was awaited in vain a moment ago.
    private func stoodIn(for resource: Resource, _ exchange: Exchange, _ request: SegmentRequest) -> Bool {
        let place = request.place
        guard library.isPresumedAbsent(resource, in: place.folder, of: place.asset), let slot = request.slot else {
            return false
        }
        let error = LibraryError(
            .originAbsent, "\(resource.url.redacted) was not asked for: its origin did not answer a moment ago")
        guard substituted(exchange, slot, after: error, ended: place.record.stored) else { return false }
        sessions.failed(Failure(error, status: 200, about: request.subject))
        return true
    }

    private func follow(_ fetch: Fetch, _ exchange: Exchange, _ request: SegmentRequest, isWhole: Bool) {
        let (place, file, subject) = (request.place, request.file, request.subject)
        let cursor = exchange.head.method == .get ? place.cursor : nil
        let arrived = place.record.awaits(file, in: place.folder, fetch, isAwaited: cursor != nil)
        cursor?.awaits(file)
        var whole: (@LoopActor () -> Void)?
        if isWhole, let slot = request.slot { whole = { [weak self] in self?.sendWhole(fetch, to: exchange, slot) } }
        PieceReply.follow(
            fetch, shelf.type(of: file), playerTimeout: playerTimeout, to: exchange, whole: whole,
            instead: { [weak self] error in self?.substituted(exchange, request, after: error) ?? false },
            refused: { [sessions] error, status in
                sessions.failed(Failure(error, status: status.code, about: subject))
            },
            ended: { [sessions] end in
                arrived(end)
                cursor?.received(file, bytes: end.bodyBytes, isComplete: end.isWhole)
                if end.cause == .bodyFailed { sessions.failed(Failure(brokenOff: fetch, about: subject)) }
            })
    }
}
