import EventLoop
import Fetching
import Glibc
import HTTPMessage
import HTTPServer
import Library

/// Answers for one resource: from its file, or from the fetch that brings it.
@LoopActor enum PieceReply {
    /// Answers from a piece. No database, no copy, no other executor: this is the road that most bytes take.
    ///
    /// - Parameter descriptor: taken over.
    /// - Returns: the piece, if it is a small one.
    static func send(_ descriptor: Int32, _ mediaType: MediaType, to exchange: Exchange) -> SmallPiece? {
        let owned = OwnedDescriptor(descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return unreadable(exchange) }
        var representation = Representation(size: Int64(status.st_size), mediaType: mediaType)
        representation.entityTag = EntityTag(tag(status))
        representation.fields = stored
        guard status.st_size <= SmallPiece.limit else {
            exchange.reply(representation, .file(owned))
            return nil
        }
        guard let small = SmallPiece(owned, status, representation) else { return unreadable(exchange) }
        exchange.reply(small.representation, .bytes(small.bytes))
        return small
    }

    /// Made once: it goes with each of them.
    private static let stored = CacheStatus.hit.head

    private static func unreadable(_ exchange: Exchange) -> SmallPiece? {
        exchange.reply(.internalServerError, "The piece cannot be read.")
        return nil
    }

    /// A piece never changes, so its length and the instant of its last byte tell it from any other. At most 15 bytes,
    /// which a String holds without an allocation.
    nonisolated static func tag(_ status: stat) -> String {
        var rest = UInt64(bitPattern: Int64(status.st_mtim.tv_sec &* 1_000_000_000 &+ status.st_mtim.tv_nsec))
        rest = (rest ^ UInt64(bitPattern: Int64(status.st_size))) &* 0x9E37_79B9_7F4A_7C15
        return String(unsafeUninitializedCapacity: 13) { digits in
            for index in 0..<13 {
                digits[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest & 31)
                if digits[index] > UInt8(ascii: "9") { digits[index] += 39 }  // On to the small letters.
                rest >>= 5
            }
            return 13
        }
    }

    /// Answers from a fetch that was retained for this reply, and releases it at the reply's end. When nothing came
    /// within `patience`, a player that has nothing else to play gets a head of an unknown length, and the origin is waited
    /// for behind that; others get a 504.
    ///
    /// - Parameters:
    ///   - whole: answers once all bytes are there; nil to answer while they come. What stands still meanwhile is given up
    ///     for something else.
    ///   - instead: answers with something else in the place of what does not come; false where there is nothing.
    ///   - refused: told what is answered in place of the bytes.
    ///   - ended: told how the reply ended, whatever it was.
    static func follow(
        _ fetch: Fetch, _ mediaType: MediaType, patience: Duration, to exchange: Exchange,
        whole: (@LoopActor () -> Void)? = nil, instead: @escaping @LoopActor (LibraryError) -> Bool = { _ in false },
        refused: @escaping @LoopActor (LibraryError, HTTPStatus) -> Void, ended: @escaping @LoopActor (ReplyEnd) -> Void
    ) {
        exchange.onEnd = { end in
            fetch.release()
            ended(end)
        }
        let status = CacheStatus.of(fetch)
        var isRefused = false
        let refuse = { (error: LibraryError, code: HTTPStatus) in
            guard exchange.isOpen, !isRefused else { return }
            isRefused = true
            if instead(error) { return }
            refused(error, code)
            exchange.refuse(code, "\(error).", status.refused(error))
        }
        let limit = Deadline(after: patience) {
            // What has begun to come is waited for, where nothing of it can be sent yet.
            if whole != nil, fetch.written > 0 { return }
            if whole == nil, fetch.isWaitingForNetwork { return fetch.announce() }
            let sentence = "the origin has sent nothing for \(patience.components.seconds) seconds"
            refuse(LibraryError(.originAbsent, sentence), .gatewayTimeout)
        }
        let standstill = whole.map { _ in
            Standstill(of: fetch) {
                guard exchange.isOpen, !isRefused else { return }
                fetch.doubtOrigin()
                isRefused = instead(LibraryError(.originAbsent, "the origin has gone silent"))
            }
        }
        let answer = { @LoopActor (result: Result<Void, FetchError>) in
            limit.cancel()
            standstill?.cancel()
            switch result {
            case .success where whole != nil: if exchange.isOpen, !isRefused { whole?() }
            case .success: send(fetch, mediaType, status, to: exchange)
            case .failure(let error):
                let error = LibraryError(error)
                refuse(error, error.status)
            }
        }
        if whole == nil { fetch.whenAnnounced(answer) } else { fetch.whenEnded(answer) }
    }

    /// Answers with what a fetch has brought and brings.
    ///
    /// - Parameter status: how it came about; nil for as it stands now.
    static func send(
        _ fetch: Fetch, _ mediaType: MediaType, _ status: CacheStatus? = nil, to exchange: Exchange
    ) {
        let size = fetch.isComplete ? fetch.written : fetch.length ?? fetch.resource.exactLength
        var representation = Representation(size: size, mediaType: mediaType)
        representation.fields = (status ?? CacheStatus.of(fetch)).head
        exchange.reply(representation, .growing(GrowingReply(fetch)))
    }
}

/// Watches a fetch for as long as nothing of it is sent, and tells when it has not got on for some time.
@LoopActor private final class Standstill {
    private var timer: LoopTimer?
    private var written: Int64
    private var since = ContinuousClock.now

    /// So long must nothing have come: not too long for a player that has read one segment ahead.
    private static let span = Duration.seconds(4)
    /// How often it is looked.
    private static let pause = Duration.milliseconds(500)

    init(of fetch: Fetch, _ action: @escaping @LoopActor () -> Void) {
        written = fetch.written
        timer = LoopTimer { [unowned self, unowned fetch] in
            if written != fetch.written { (written, since) = (fetch.written, .now) }
            if .now - since >= Self.span { return action() }
            timer?.schedule(after: Self.pause)
        }
        timer?.schedule(after: Self.pause)
    }

    func cancel() { timer = nil }
}

/// Runs something later unless it is cancelled before.
@LoopActor private final class Deadline {
    private var timer: LoopTimer?

    init(after delay: Duration, _ action: @escaping @LoopActor () -> Void) {
        timer = LoopTimer(action)
        timer?.schedule(after: delay)
    }

    func cancel() { timer = nil }
}
