import Assets
import EventLoop
import Fetching
import Glibc
import HTTPMessage
import HTTPServer
import Origin
import Playheads
import SegmentFormat
import Sessions
import Store

/// Answers a request for one resource, unchanged, from its stored file or from a fetch.
@LoopActor enum PieceReply {
    /// Answers from an open piece, and takes ownership of it. Most bytes take this path, so it has no database access, no
    /// copy and no executor hop. Returns the piece if it is small enough to be held in memory.
    /// - Parameter ignoresRange: true if a range request would continue a body of other bytes.
    static func send(
        _ open: OpenPiece, _ mediaType: MediaType, ignoresRange: Bool, to exchange: Exchange
    ) -> SmallPiece? {
        let owned = OwnedDescriptor(open.descriptor)
        let size = open.identity.size
        var representation = Representation(size: size, mediaType: mediaType)
        representation.entityTag = EntityTag(tag(open.identity.modified))
        representation.fields = stored
        guard size <= SmallPiece.limit else {
            representation.ignoresRange = ignoresRange
            exchange.reply(representation, .file(owned))
            return nil
        }
        guard let piece = SmallPiece(owned, identity: open.identity, representation) else {
            return unreadable(exchange)
        }
        representation.ignoresRange = ignoresRange || size == 0
        exchange.reply(representation, .bytes(piece.bytes))
        return piece
    }

    /// Answers from an open large piece whose blocks are verified while they are sent, and takes ownership of it.
    /// - Parameter digests: those of the blocks.
    static func send(
        _ open: OpenPiece, named file: String, in folder: PieceFolder, digests: [Digest], _ mediaType: MediaType,
        ignoresRange: Bool, to exchange: Exchange
    ) {
        let owned = OwnedDescriptor(open.descriptor)
        let size = open.identity.size
        var representation = Representation(size: size, mediaType: mediaType)
        representation.entityTag = EntityTag(tag(open.identity.modified))
        representation.fields = stored
        representation.ignoresRange = ignoresRange
        let selection = RepresentationSelection(
            for: exchange.head, size: size, entityTag: representation.entityTag, lastModified: nil)
        var range = 0..<size
        if case .part(let part) = selection, !ignoresRange {
            range = part
        }
        let body = VerifiedBody(
            owned, open.identity, named: file, in: folder, digests: digests, range: range)
        exchange.reply(representation, .growing(body))
    }

    /// Built once, because every reply from the store carries it.
    private static let stored = CacheStatus.hit.head

    private static func unreadable(_ exchange: Exchange) -> SmallPiece? {
        exchange.reply(.internalServerError, "The piece cannot be read.")
        return nil
    }

    /// Entity tag from the modification time. A piece never changes, and one that is fetched again has another time. The
    /// time is known before the first byte arrives (`GrowingFile.modified`), unlike the length. At most 15 bytes, which a
    /// String holds without an allocation.
    ///
    /// - Parameter modified: in nanoseconds since 1970.
    nonisolated static func tag(_ modified: Int64) -> String {
        var rest = UInt64(bitPattern: modified) &* 0x9E37_79B9_7F4A_7C15
        return String(unsafeUninitializedCapacity: 13) { digits in
            for index in 0..<13 {
                digits[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest & 31)
                if digits[index] > UInt8(ascii: "9") {
                    // The lower-case letters follow.
                    digits[index] += 39
                }
                rest >>= 5
            }
            return 13
        }
    }

    /// Answers with the bytes that a fetch has received and those that it will still receive.
    /// - Parameter ignoresRange: true if a range request would continue a body of other bytes.
    static func send(
        _ fetch: Fetch, _ mediaType: MediaType, status: CacheStatus?, ignoresRange: Bool, to exchange: Exchange
    ) {
        var size = fetch.announcedLength
        // libavformat would not read what follows a length that the origin states too small.
        if !fetch.isComplete, KnownPlayer(exchange.head).isLibavformat {
            size = fetch.resource.exactLength
        }
        var representation = Representation(size: size, mediaType: mediaType)
        representation.entityTag = EntityTag(tag(fetch.modified))
        // No range of an empty segment can be satisfied, and a player asks for one from the first byte on.
        representation.ignoresRange = ignoresRange || size == 0
        representation.fields = (status ?? CacheStatus.of(fetch)).head
        exchange.reply(representation, .growing(GrowingReply(fetch)))
    }
}

/// Answers a request from a fetch that was retained for this reply, and releases it when the reply ends. If nothing
/// arrives within `playerTimeout`, a player that has nothing else to play gets a head without a length while the origin
/// is still awaited. For other players, and if the fetch fails, the source is chosen again.
@LoopActor final class FetchReply {
    private let fetch: Fetch
    private let request: SegmentRequest
    private weak var playback: PlayerRoutes?
    /// True to answer once all bytes are stored, false to answer while they arrive.
    private let isSentComplete: Bool
    private let playerTimeout: Duration
    private var isAnswered = false
    /// True once a reply that seemed to be of other content was compared.
    private var isSettled = false
    private var awaited: AwaitedReply?
    private var deadline: LoopTimer?
    private var stallWatch: StallWatch?

    init(_ fetch: Fetch, for request: SegmentRequest, in playback: PlayerRoutes, isSentComplete: Bool) {
        var request = request
        request.fetchStatus = CacheStatus.of(fetch)
        self.fetch = fetch
        self.request = request
        self.playback = playback
        self.isSentComplete = isSentComplete
        playerTimeout = playback.playerTimeout
    }

    func start() {
        let awaited = AwaitedReply(fetch, for: request)
        self.awaited = awaited
        let sessionFolder = request.sessionFolder
        let name = request.name
        let path = request.exchange.head.path
        request.exchange.whenEnded { [sessions = playback?.sessions] end in
            let fetch = awaited.fetch
            fetch?.release(.playback)
            awaited.end(end)
            // Where only the head was sent, the reason is recorded by itself.
            guard let fetch, end.cause == .bodyFailed, !awaited.isHeadSent || end.bodyBytes > 0 else { return }
            sessions?.recordFailure(
                FailedRequest(brokenOff: fetch, about: RequestSubject(sessionFolder, name, path: path)))
        }
        deadline = LoopTimer { [weak self] in self?.playerTimedOut() }
        deadline?.schedule(after: playerTimeout)
        // The fetch holds this object until it can be answered.
        if isSentComplete {
            stallWatch = StallWatch(of: fetch) { [weak self] in self?.fetchStalled() }
            fetch.whenEnded { [self] in answer($0) }
            playback?.beginReply(to: request, awaited)
        } else {
            fetch.whenAnnounced { [self] in answer($0) }
        }
        fetch.whenEnded { result in
            if case .success = result {
                awaited.arrived()
            }
        }
    }

    private func answer(_ result: Result<Void, FetchError>) {
        deadline?.cancel()
        stallWatch?.cancel()
        switch result {
        case .success:
            guard let playback, request.exchange.isOpen, !isAnswered else { return }
            let revisions = playback.library.revisions
            if !isSettled, revisions.isSuspect(fetch, of: request.sessionFolder.asset) {
                return settle(by: revisions)
            }
            awaited?.begin(request.exchange)
            let isSent: Bool
            if isSentComplete {
                isSent = playback.send(complete: fetch, request)
            } else {
                isSent = playback.send(arriving: fetch, request)
            }
            if isSent {
                return
            }
            awaited?.end(nil)
            playback.serve(request)
        case .failure(let error): fail(LibraryError(error))
        }
    }

    /// Sends the bytes only if they are of the content that the session plays.
    private func settle(by revisions: Revisions) {
        isSettled = true
        Task { @LoopActor in
            let asset = request.sessionFolder.asset
            await revisions.settle(asset)
            guard !asset.hasOtherSegments else {
                let reason = "the origin has other content now than what this session plays; open the URL anew"
                return fail(LibraryError(.otherContent, reason))
            }
            answer(.success(()))
        }
    }

    private func playerTimedOut() {
        // Bytes have begun to arrive but cannot be sent before the last one, so the reply keeps waiting.
        let decision = GiveUpRule.decision(
            afterTimeoutOf: isSentComplete, hasBytes: fetch.written > 0, isAwaited: fetch.isAwaited,
            isPatient: KnownPlayer(request.exchange.head).timeout != nil)
        if decision == .wait {
            return
        }
        if decision == .sendHead {
            return fetch.announce()
        }
        let reason = "the origin has sent nothing for \(playerTimeout.components.seconds) seconds"
        fail(LibraryError(.originAbsent, reason))
    }

    /// Sends a substitute if there is one; otherwise keeps waiting.
    private func fetchStalled() {
        guard request.exchange.isOpen, !isAnswered else { return }
        fetch.doubtOrigin()
        var stalled = request
        stalled.recordFailure(LibraryError(.originAbsent, "the origin has gone silent"))
        guard case .substitute(let rendition) = SegmentSource(stalled.facts) else { return }
        isAnswered = playback?.sendSubstitute(of: rendition, stalled) ?? false
    }

    private func fail(_ error: LibraryError) {
        guard request.exchange.isOpen, !isAnswered else { return }
        isAnswered = true
        var failed = request
        failed.recordFailure(error)
        playback?.serve(failed: failed)
    }
}

/// A reply that waits for the origin, as the playhead tracker and the session's record see it.
@LoopActor final class AwaitedReply: PieceDelivery {
    private let cursor: RenditionCursor?
    /// Nil once every byte has arrived: a player may be paused for hours before it has read them.
    private(set) var fetch: Fetch?
    /// The length of the piece, once every byte has arrived.
    private var length: Int64?
    /// The exchange while the reply is sent. Not held before: an exchange that is dropped is answered.
    private var exchange: Exchange?
    /// True if the head of the reply was sent before its body was known.
    private(set) var isHeadSent = false
    private let file: String
    private var wait: SessionRecord.Wait
    private weak var record: SessionRecord?
    private let isOtherQuality: Bool
    private var isOver = false

    init(_ fetch: Fetch, for request: SegmentRequest) {
        let sessionFolder = request.sessionFolder
        cursor = request.cursor
        file = request.file
        record = sessionFolder.record
        self.fetch = fetch
        isOtherQuality = request.facts.quality != nil
        wait = sessionFolder.record.beginWait(
            for: request.name, in: sessionFolder.folder, fetch, isAwaited: request.cursor != nil)
        cursor?.beginWait(for: file, self)
    }

    /// Records that the reply is about to be sent.
    func begin(_ exchange: Exchange) {
        if !isOver {
            self.exchange = exchange
        }
    }

    /// Records if the head was sent. Not derived, because the exchange is not held.
    func recordHead(of exchange: Exchange) { isHeadSent = exchange.isBegun }

    var isAnswered: Bool { isHeadSent || exchange != nil }

    var deliveredShare: Double? {
        guard let exchange, let length = length ?? fetch?.announcedLength, length > 0 else { return nil }
        return Double(exchange.sentBytes / Self.block * Self.block) / Double(length)
    }

    /// The players of which parts count use libavformat. Its HLS demuxer reads blocks of so many bytes, and nothing of an
    /// incomplete one (hls.c, INITIAL_BUFFER_SIZE).
    private static let block: Int64 = 32_768

    /// Every byte has arrived, and the player has not read all of them: from now on it waits for nothing but itself.
    func arrived() {
        guard !isOver, let fetch else { return }
        length = fetch.written
        self.fetch = nil
        fetch.release(.playback)
        record?.recordArrival(of: &wait)
        cursor?.pieceArrived()
    }

    /// Ends the wait, with nil if the request is answered in another way. Later calls have no effect.
    func end(_ end: ReplyEnd?) {
        guard !isOver else { return }
        isOver = true
        exchange = nil
        // The delivery of another quality may begin an event of the log, and the bytes belong to that event.
        if isOtherQuality {
            endCursorWait(end)
        }
        record?.end(wait, end)
        if !isOtherQuality {
            endCursorWait(end)
        }
    }

    private func endCursorWait(_ end: ReplyEnd?) {
        let bytes = end?.bodyBytes ?? 0
        let isComplete = end?.isComplete ?? false
        cursor?.endWait(for: file, bytes: bytes, isComplete: isComplete, hasArrived: fetch == nil)
    }
}

/// Answers a segment request with a substitute, or with a piece into which parameter sets are inserted.
@LoopActor struct SplicedReply {
    var substitute: String?
    /// The splice to apply; nil to send the file unchanged.
    var splice: Splice?
    var mediaType: MediaType
    /// The modification time in nanoseconds since 1970; nil for that of the file.
    var modified: Int64?
    var status = CacheStatus.hit
    /// True if a range request would continue a body of other bytes.
    var ignoresRange = false

    /// Answers from an open file, and takes ownership of it.
    func send(_ descriptor: Int32, to exchange: Exchange) {
        let owned = OwnedDescriptor(descriptor)
        guard let file = FileIdentity(of: descriptor) else {
            return exchange.reply(.internalServerError, "The piece cannot be read.")
        }
        let tag = PieceReply.tag(modified ?? file.modified)
        guard let splice else {
            return exchange.reply(representation(size: file.size, tag: tag), .file(owned))
        }
        let parts = splice.pieces.map { piece -> ReplyPart in
            switch piece {
            case .original(let range): .file(Int64(range.lowerBound)..<Int64(range.upperBound))
            case .bytes(let bytes): .bytes(bytes)
            }
        }
        exchange.reply(representation(size: Int64(splice.count), tag: tag), .parts(owned, parts))
    }

    private func representation(size: Int64, tag: String) -> Representation {
        var representation = Representation(size: size, mediaType: mediaType)
        // A different source means different bytes, so a client must not continue one with the other.
        var tag = tag
        if let substitute {
            tag += "-\(substitute)"
        }
        if splice != nil {
            tag += "-joined"
        }
        representation.entityTag = EntityTag(tag)
        representation.ignoresRange = ignoresRange
        // If this piece is gone later, the URL stands for another one.
        representation.fields.append(.cacheControl, literal: "no-store")
        var status = status
        if let substitute {
            status.detail = "\(substitute) stands in"
        }
        representation.fields.append(status)
        return representation
    }
}

extension Fetch {
    /// The length of the whole body, as far as it is known.
    fileprivate var announcedLength: Int64? {
        if isComplete {
            return written
        }
        return resource.exactLength ?? length
    }
}

@LoopActor private final class GrowingReply: GrowingBody {
    private let fetch: Fetch
    private var subscriptions: [ObjectIdentifier: Int] = [:]

    init(_ fetch: Fetch) { self.fetch = fetch }

    var descriptor: Int32 { fetch.descriptor }
    var written: Int64 { fetch.written }
    var fresh: UnsafeRawBufferPointer? { fetch.fresh }

    var state: GrowingBodyState {
        guard let outcome = fetch.outcome else { return .open }
        return if case .success = outcome { .complete } else { .failed }
    }

    func subscribe(_ reader: AnyObject, wake: @escaping @LoopActor () -> Void) {
        subscriptions[ObjectIdentifier(reader)] = fetch.subscribe(wake)
    }

    func unsubscribe(_ reader: AnyObject) {
        if let id = subscriptions.removeValue(forKey: ObjectIdentifier(reader)) {
            fetch.unsubscribe(id)
        }
    }
}

/// Builds the Cache-Status field of replies (RFC 9211).
extension CacheStatus {
    /// Maps a fetch to the status that a new request for it gets.
    @LoopActor static func of(_ fetch: Fetch) -> CacheStatus {
        switch fetch.approach {
        case .begun: .forwarded(.uriMiss, isStored: fetch.isKept)
        case .resumed: .forwarded(.partial, isStored: fetch.isKept)
        case .joined: .forwarded(.uriMiss, isStored: fetch.isKept, isCollapsed: true)
        case .arrived: .hit
        }
    }

    /// Returns the status of a request that the origin did not answer with the resource.
    func refused(_ error: LibraryError) -> CacheStatus {
        var status = self
        status.isStored = false
        status.forwardStatus = error.originStatus.map { HTTPStatus($0) }
        return status
    }

    fileprivate var head: ResponseHead {
        var head = ResponseHead(.ok)
        head.append(self)
        return head
    }
}

extension Exchange {
    /// The status that the client gets instead of `status`: that of the head, if it was sent before.
    func sentStatus(_ status: HTTPStatus) -> Int {
        guard !isBegun else { return HTTPStatus.ok.code }
        return status.code
    }

    /// Answers with a sentence for a person and a Cache-Status field.
    func refuse(_ status: HTTPStatus, because sentence: String, _ cacheStatus: CacheStatus) {
        var head = ResponseHead(status)
        head.append(.text)
        head.append(cacheStatus)
        reply(head, .bytes([UInt8]("\(sentence)\n".utf8)))
    }
}
