import Assets
import EventLoop
import Fetching
import Glibc
import HTTPMessage
import HTTPServer
import Playheads
import SegmentFormat
import Sessions
import Substitution

/// Serves segments, initialization sections, keys and session data: carries out what `SegmentSource` decides.
extension PlayerRoutes {
    /// Answers a request for a file by asset id and folder name, if both exist.
    func servePiece(_ exchange: Exchange, assetID: String, session: Session, folder: String, file: String) {
        guard let asset = library.presentation(id: assetID), let pieces = asset.folder(folder) else {
            return exchange.reply(.notFound, "There is no such asset or rendition.")
        }
        if refuseIfExpired(exchange, asset, in: session) {
            return
        }
        let player = KnownPlayer(exchange.head).traits
        let cursor = library.playheads.cursor(of: session.id, in: asset, folder, player)
        let served = servedSession(session, of: asset, for: exchange)
        let sessionFolder = SessionFolder(
            asset: asset, session: session, folder: pieces, cursor: cursor, served: served, substitutions)
        shelf.remember(sessionFolder, exchange.head.pathBytes)
        servePiece(exchange, in: sessionFolder, file: file)
        library.playheads.setConnected(session.id, served.record.isConnected)
    }

    /// Answers a request for a file of a folder that was found.
    func servePiece(_ exchange: Exchange, in sessionFolder: SessionFolder, file: String) {
        sessionFolder.record.join(exchange)
        let hasClientData = sessionFolder.record.applyClientData(of: exchange.head)
        var request = SegmentRequest(exchange, in: sessionFolder, file: file, hasClientData: hasClientData)
        if isExpiredKey(request) {
            addMissing(to: &request, isExpiredKey: true)
        }
        if sessionFolder.served.adapter != nil {
            chooseQuality(for: &request)
        }
        serve(consume request)
    }

    /// Answers from the first source that is available, now or later. The stored piece is verified first.
    func serve(_ request: consuming SegmentRequest) {
        let folder = request.sessionFolder.folder
        let file = request.file
        if library.revisions.isSuspect(file, in: folder, of: request.sessionFolder.asset) {
            return serveOnceSettled(request)
        }
        folder.verifyAhead(of: file)
        if folder.isVerified(file) {
            return serveVerified(consume request)
        }
        let waiting = request
        folder.verify(file) { [self] in
            if waiting.exchange.isOpen {
                serveVerified(waiting)
            }
        }
    }

    /// Answers once it is known whether a piece is of the content that the session plays.
    func serveOnceSettled(_ request: SegmentRequest) {
        Task { @LoopActor in
            await library.revisions.settle(request.sessionFolder.asset)
            serveAfresh(request)
        }
    }

    /// Chooses the source again after a wait: another request may have brought the piece meanwhile.
    private func serveAfresh(_ request: SegmentRequest) {
        guard request.exchange.isOpen else { return }
        var next = request.afresh
        chooseQuality(for: &next)
        serve(next)
    }

    /// Answers a request for a missing piece once the content was compared with the origin's, if that must be done first. Returns
    /// false if it need not.
    private func awaitsComparison(_ request: SegmentRequest) -> Bool {
        let asset = request.sessionFolder.asset
        guard let name = request.name, library.revisions.mustCheck(beforeFetching: name, into: asset) else {
            return false
        }
        Task { @LoopActor in
            await library.revisions.checkBeforeFetching(into: asset)
            serveAfresh(request)
        }
        return true
    }

    private func serveVerified(_ request: consuming SegmentRequest) {
        request.refreshForm()
        var source = SegmentSource(request.facts)
        while !serve(&request, from: source) {
            request.facts.exclude(source)
            source = SegmentSource(request.facts)
        }
    }

    /// Returns false if the source is not available.
    private func serve(_ request: inout SegmentRequest, from source: SegmentSource) -> Bool {
        switch source {
        case .piece:
            if sendPiece(request) {
                return true
            }
            addMissing(to: &request)
            return false
        case .splicedPiece: return sendSplicedPiece(request)
        case .substitute(let rendition): return sendSubstitute(of: rendition, request)
        case .otherQuality: return awaitsComparison(request) || fetchChosenQuality(request)
        case .standIn: return awaitsComparison(request) || fetchStandIn(request)
        case .fetch(let fallback, let isSentComplete):
            if awaitsComparison(request) {
                return true
            }
            do throws(LibraryError) {
                try fetch(request, fallback, isSentComplete: isSentComplete)
                return true
            } catch {
                request.recordFailure(error)
                return false
            }
        case .noCues:
            sendNoCues(request)
            return true
        case .refuse(let refusal):
            refuse(request, refusal)
            return true
        }
    }

    // MARK: Facts

    /// True if the file is a key that has expired. A session that began before the expiry may continue.
    private func isExpiredKey(_ request: SegmentRequest) -> Bool {
        let asset = request.sessionFolder.asset
        guard request.sessionFolder.holdsKeys, case .key(let number)? = request.name?.role,
            !asset.keys.isUsable(number)
        else { return false }
        return !library.keys.mayUse(request.sessionFolder.session.id, key: number, of: asset)
    }

    /// Gathers what decides the answer if the file is not stored. An expired key counts as not stored: if the origin may
    /// be asked, the key is fetched again, because the origin decides who gets it.
    private func addMissing(to request: inout SegmentRequest, isExpiredKey: Bool = false) {
        request.findResource()
        let sessionFolder = request.sessionFolder
        let resource = request.resource
        let segment = request.segment
        var missing = SegmentFacts.Missing()
        missing.isListed = resource != nil
        missing.mayAsk =
            sessionFolder.session.mode != .offline && !library.isOffline
            && !(isExpiredKey && sessionFolder.asset.isImported)
        missing.isExpiredKey = isExpiredKey
        if let segment, segment.substitutes.has(segment.name) {
            missing.hasSubstitute = true
            missing.hasBuffer = missing.mayAsk && buffer(of: sessionFolder.session) > 0
        }
        missing.isSplicedComplete = segment?.substitutes.needsCompleteSegments ?? false
        if let name = request.name, let rendition = sessionFolder.asset.rendition(sessionFolder.folder.id) {
            missing.isCueFile = rendition.isCueFile(name)
            missing.isGivenUp = missing.isCueFile && rendition.isWithoutCues(name)
        }
        if missing.mayAsk, !missing.hasSubstitute, let standIn = standIn(for: request) {
            request.standIn = standIn
            missing.hasStandIn = true
        }
        request.facts.missing = missing
        guard let resource, missing.mayAsk, missing.hasSubstitute,
            library.isPresumedAbsent(resource, in: sessionFolder.folder, of: sessionFolder.asset)
        else { return }
        let reason = "\(resource.url.redacted) was not asked for: its origin did not answer a moment ago"
        request.presumeAbsent(LibraryError(.originAbsent, reason))
    }

    /// Media ahead of a session's playhead, in seconds.
    func buffer(of session: Session) -> Double {
        library.playheads.catchUp()
        return library.playheads.reading(of: session.id)?.buffer ?? 0
    }

    // MARK: Stored pieces

    /// Answers with the stored piece, unchanged. Returns false if there is none.
    private func sendPiece(_ request: SegmentRequest) -> Bool {
        let folder = request.sessionFolder.folder
        let file = request.file
        if let small = shelf.smallPiece(file, in: folder) {
            folder.recordUse(of: file)
            recordServed(request)
            var representation = small.representation
            let former = recordOwnPiece(request, isSpliced: false)
            representation.ignoresRange = former != .same || small.bytes.isEmpty
            request.exchange.reply(representation, .bytes(small.bytes))
            return true
        }
        guard let open = folder.openPiece(file) else { return false }
        if case .changed = open.state {
            close(open.descriptor)
            verifyChanged(file, in: folder, for: request)
            return true
        }
        recordServed(request)
        let ignoresRange = recordOwnPiece(request, isSpliced: false) != .same
        if case .verifiedByBlocks(let digests) = open.state {
            PieceReply.send(
                open, named: file, in: folder, digests: digests, shelf.type(of: file), ignoresRange: ignoresRange,
                to: request.exchange)
            return true
        }
        let small = PieceReply.send(open, shelf.type(of: file), ignoresRange: ignoresRange, to: request.exchange)
        if let small {
            shelf.insert(small, as: file, in: folder)
        }
        return true
    }

    /// Answers with the stored piece, spliced. Returns false if there is none, or if it must be sent unchanged.
    private func sendSplicedPiece(_ request: SegmentRequest) -> Bool {
        let folder = request.sessionFolder.folder
        let file = request.file
        guard let segment = request.segment, folder.contains(file) else { return false }
        guard let descriptor = folder.open(file) else { return false }
        guard folder.isVerified(file) else {
            close(descriptor)
            verifyWhole(file, in: folder, for: request)
            return true
        }
        if verifiesSection(behind: file, of: request.sessionFolder.rendition, for: request) {
            close(descriptor)
            return true
        }
        guard let splice = splice(descriptor, as: segment, for: request) else {
            close(descriptor)
            return false
        }
        recordServed(request)
        var reply = SplicedReply(splice: splice, mediaType: shelf.type(of: request.file))
        reply.ignoresRange = recordOwnPiece(request, isSpliced: true) != .same
        reply.send(descriptor, to: request.exchange)
        return true
    }

    /// Answers with a piece of another rendition, or of any if that is nil. Returns false if there is none.
    /// - Parameter fetch: the fetch that has just received the piece; nil if it was stored before.
    func sendSubstitute(of rendition: String?, _ request: SegmentRequest, broughtBy fetch: Fetch? = nil) -> Bool {
        guard let segment = request.segment else { return false }
        let splicing = segment.splicing
        let record = request.sessionFolder.record
        var isAfterSplice = splicing.stage != .unspliced
        if let rendition, let wasSpliced = request.facts.isSpliced(from: rendition) {
            isAfterSplice = wasSpliced
        }
        guard let found = segment.substitutes.open(segment.name, isAfterSplice: isAfterSplice, of: rendition) else {
            return false
        }
        guard found.rendition.folder.isVerified(found.file) else {
            close(found.descriptor)
            verifyWhole(found.file, in: found.rendition.folder, for: request)
            return true
        }
        if verifiesSection(behind: found.file, of: found.rendition, for: request)
            || verifiesSection(behind: request.file, of: request.sessionFolder.rendition, for: request)
        {
            close(found.descriptor)
            return true
        }
        let substitute = found.rendition.name.id
        let form = SegmentForm(substitute: substitute, isSpliced: found.splice != nil)
        let former = request.record(form)
        guard former != .superseding else {
            close(found.descriptor)
            return false
        }
        record.recordSubstitute(
            substitute, for: segment.name, of: request.sessionFolder.folder.id, isStored: fetch == nil)
        if fetch == nil, request.fetchStatus == nil {
            recordServed(request)
        }
        splicing.advance(to: found.splice == nil ? .expected : .spliced)
        var reply = SplicedReply(substitute: substitute, splice: found.splice, mediaType: shelf.type(of: request.file))
        reply.ignoresRange = former == .other
        if let fetch {
            reply.status = CacheStatus.of(fetch)
        }
        if let error = request.error {
            reply.status = CacheStatus.forwarded(.uriMiss, isStored: false).refused(error)
            sessions.recordFailure(FailedRequest(error, status: 200, about: request.subject))
        }
        if request.facts.quality != nil {
            request.sessionFolder.served.adapter?.use(substitute)
        }
        reply.send(found.descriptor, to: request.exchange)
        return true
    }

    /// Answers with a file without cues. It is not stored, so that the segment is asked for again by the next session.
    private func sendNoCues(_ request: SegmentRequest) {
        let sessionFolder = request.sessionFolder
        let rendition = sessionFolder.asset.rendition(sessionFolder.folder.id)
        guard let name = request.name, let bytes = rendition?.withoutCues(name) else {
            return refuse(request, .notStored)
        }
        var representation = Representation(size: Int64(bytes.count), mediaType: shelf.type(of: request.file))
        representation.ignoresRange = true
        representation.fields.append(.cacheControl, literal: "no-store")

        var status = request.fetchStatus ?? .hit
        if let error = request.error {
            status = CacheStatus.forwarded(.uriMiss, isStored: false).refused(error)
            sessions.recordFailure(FailedRequest(error, status: 200, about: request.subject))
        }
        if request.fetchStatus == nil {
            recordServed(request)
        }
        status.detail = "no cues stand in"
        representation.fields.append(status)
        request.exchange.reply(representation, .bytes(bytes))
    }

    /// Verifies a piece that another program has changed since it was verified, and then chooses the answer again.
    private func verifyChanged(_ file: String, in folder: PieceFolder, for request: SegmentRequest) {
        var waiting = request
        waiting.countVerification()
        // A program writes to it without end.
        guard waiting.mayVerify else {
            folder.removeFromList(file)
            return serveVerified(waiting)
        }
        folder.verify(file) { [self, waiting] in
            if waiting.exchange.isOpen {
                serveVerified(waiting)
            }
        }
    }

    /// Verifies a piece that is spliced or stands in for another one, and then chooses the answer again.
    private func verifyWhole(_ file: String, in folder: PieceFolder, for request: SegmentRequest) {
        var waiting = request
        waiting.countVerification()
        folder.verify(file, isWhole: true) { [self, waiting] in
            guard waiting.exchange.isOpen else { return }
            // A piece that cannot be verified, because its folder cannot be opened or a program writes to it without end, is a hole.
            if !folder.isVerified(file) || !waiting.mayVerify {
                folder.removeFromList(file)
            }
            serveVerified(waiting)
        }
    }

    /// Verifies the initialization section of a segment that is spliced or stands in: what is sent, and if it fits, depends on its bytes.
    /// Returns false if that was done, or there is none.
    private func verifiesSection(behind file: String, of rendition: Rendition?, for request: SegmentRequest) -> Bool {
        guard let rendition, let section = rendition.section(behind: file), !rendition.folder.isVerified(section)
        else { return false }
        verifyWhole(section, in: rendition.folder, for: request)
        return true
    }

    /// Records a request that is answered from the store. If the player sent data about itself, the tracker catches up at
    /// once, because the data describes this moment.
    private func recordServed(_ request: SegmentRequest) {
        let exchange = request.exchange
        let record = request.sessionFolder.record
        let file = request.file
        if request.isAmid, let cursor = request.cursor {
            // A range beyond the end is detected only when the answer is made.
            exchange.whenEnded { end in
                record.countStoredReply(end)
                if end.status.map({ $0 < 400 }) ?? false {
                    cursor.served(file)
                }
            }
        } else {
            exchange.whenEnded(record.countStoredReply)
            request.cursor?.served(file)
        }
        if request.hasClientData || !record.hasStarted {
            library.playheads.catchUp()
        }
    }

    // MARK: Fetches

    /// Answers with the bytes that the origin sends.
    private func fetch(
        _ request: SegmentRequest, _ fallback: Fetch.Fallback, isSentComplete: Bool
    ) throws(LibraryError) {
        guard let resource = request.resource else { throw LibraryError(.missing, "there is no such segment") }
        let sessionFolder = request.sessionFolder
        recordLiveSegment(request)
        let fetch = try library.fetch(
            resource, in: sessionFolder.folder, of: sessionFolder.asset, urgency: .playback, fallback: fallback)
        sessionFolder.served.adapter?.link.follow(fetch)
        // `StallWatch` would take one that yields for stalled.
        if sessionFolder.served.adapter != nil || !isSentComplete {
            request.awaits(fetch)
        }
        if fallback != .none, let segment = request.segment, segment.substitutes.needsSplice(segment.name) {
            segment.splicing.advance(to: .expected)
        }
        FetchReply(fetch, for: request, in: self, isSentComplete: isSentComplete).start()
    }

    /// Keeps the last minutes of a live rendition that a player plays.
    private func recordLiveSegment(_ request: SegmentRequest) {
        let sessionFolder = request.sessionFolder
        guard let timeShifts, let name = request.name, request.exchange.head.method == .get,
            let rendition = sessionFolder.asset.rendition(in: sessionFolder.folder)
        else { return }
        var number = rendition.number(ofPart: name)
        if case .segment(let own) = name.role {
            number = own
        }
        guard let number else { return }
        timeShifts.recordSegment(number, of: rendition, in: sessionFolder.asset, for: sessionFolder.record)
    }

    /// Answers with a complete fetch; spliced if substitutes were sent before. Splicing needs all boxes of the file.
    /// Returns false if another request was answered since in another form.
    func send(complete fetch: Fetch, _ request: SegmentRequest) -> Bool {
        guard let segment = request.segment, request.facts.isSplicedWhenComplete else {
            return send(arriving: fetch, request)
        }
        let descriptor = fcntl(fetch.descriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else {
            request.exchange.reply(.internalServerError, "The piece cannot be read.")
            return true
        }
        let splice = splice(descriptor, as: segment, for: request)
        let former = recordOwnPiece(request, isSpliced: splice != nil)
        guard former != .superseding else {
            close(descriptor)
            return false
        }
        var reply = SplicedReply(splice: splice, mediaType: shelf.type(of: request.file), modified: fetch.modified)
        reply.ignoresRange = former == .other
        reply.status = CacheStatus.of(fetch)
        reply.send(descriptor, to: request.exchange)
        return true
    }

    /// Answers with the bytes of a fetch, unchanged, as they arrive. Returns false as `send(complete:_:)` does.
    func send(arriving fetch: Fetch, _ request: SegmentRequest) -> Bool {
        let former = recordOwnPiece(request, isSpliced: false)
        guard former != .superseding else { return false }
        let type = shelf.type(of: request.file)
        PieceReply.send(fetch, type, status: request.fetchStatus, ignoresRange: former == .other, to: request.exchange)
        return true
    }

    // MARK: Splices

    /// Returns the splice of the rendition's own piece; nil if it is sent unchanged. Records a piece that is not media.
    private func splice(
        _ descriptor: Int32, as segment: SegmentRequest.Segment, for request: SegmentRequest
    ) -> Splice? {
        do {
            return try segment.substitutes.ownSplice(segment.name, descriptor)
        } catch {
            let subject = RequestSubject(
                session: request.sessionFolder.session.id, asset: request.sessionFolder.asset,
                uri: request.exchange.head.path)
            sessions.recordFailure(FailedRequest(unjoined: error, about: subject))
            return nil
        }
    }

    /// Records that a segment is answered with its own piece. For the result see `SegmentRequest.record`.
    private func recordOwnPiece(_ request: SegmentRequest, isSpliced: Bool) -> SegmentRequest.FormerBytes {
        let former = request.record(SegmentForm(isSpliced: isSpliced))
        if former != .superseding, request.facts.splicing != .unspliced, let name = request.name {
            request.sessionFolder.record.recordSubstitute(nil, for: name, of: request.sessionFolder.folder.id)
        }
        return former
    }

    // MARK: Refusals

    private func refuse(_ request: SegmentRequest, _ refusal: SegmentSource.Refusal) {
        let exchange = request.exchange
        let subject = request.subject
        switch refusal {
        case .unlisted: refuse(exchange, LibraryError(.missing, "there is no such segment"), about: subject)
        case .notStored:
            let reason = "this segment is not in the store, and Weir is offline"
            refuse(exchange, LibraryError(.notStored, reason), about: subject)
        case .keyExpired:
            let asset = request.sessionFolder.asset
            let session = request.sessionFolder.session
            guard case .key(let number)? = request.name?.role else { return }
            let subject = RequestSubject(session: session.id, asset: asset, uri: exchange.head.path)
            refuse(exchange, asset.keyExpiry(of: number), about: subject)
        case .failed:
            guard let error = request.error else { return }
            guard let status = request.fetchStatus else { return refuse(exchange, error, about: subject) }
            sessions.recordFailure(FailedRequest(error, status: exchange.sentStatus(error.status), about: subject))
            exchange.refuse(error.status, because: "\(error).", status.refused(error))
        }
    }
}
