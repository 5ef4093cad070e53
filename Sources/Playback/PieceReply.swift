import EventLoop
import Fetching
import Glibc
import HTTPMessage
import HTTPServer
import Library
import Origin

/// Answers a request for one resource, from its stored file or from a running fetch.
@LoopActor enum PieceReply {
    /// Answers from a stored piece. Most bytes take this path, so it has no database access, no copy and no executor
    /// hop.
    ///
    /// - Parameter descriptor: ownership passes to this function.
    /// - Returns: the piece if it is small enough to be held in memory.
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

    /// Built once, because every reply from the store carries it.
    private static let stored = CacheStatus.hit.head

    private static func unreadable(_ exchange: Exchange) -> SmallPiece? {
        exchange.reply(.internalServerError, "The piece cannot be read.")
        return nil
    }

    /// Entity tag from the length and modification time. A piece never changes, so these identify it. At most 15 bytes,
    /// which a String holds without an allocation.
    nonisolated static func tag(_ status: stat) -> String {
        var rest = UInt64(bitPattern: Int64(status.st_mtim.tv_sec &* 1_000_000_000 &+ status.st_mtim.tv_nsec))
        rest = (rest ^ UInt64(bitPattern: Int64(status.st_size))) &* 0x9E37_79B9_7F4A_7C15
        return String(unsafeUninitializedCapacity: 13) { digits in
            for index in 0..<13 {
                digits[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest & 31)
                if digits[index] > UInt8(ascii: "9") { digits[index] += 39 }  // Continue with the lower-case letters.
                rest >>= 5
            }
            return 13
        }
    }

    /// Answers from a fetch that was retained for this reply, and releases it when the reply ends. If nothing arrives
    /// within `playerTimeout`, a player that has nothing else to play gets a head without a length while the origin is still
    /// awaited. Other players get a 504.
    ///
    /// - Parameters:
    ///   - whole: answers once all bytes are stored; nil to answer while they arrive. If the fetch stops making
    ///     progress meanwhile, it is replaced by `instead`.
    ///   - instead: answers with a replacement for the missing resource; returns false if there is no replacement.
    ///   - refused: called with the error and status that are sent in place of the bytes.
    ///   - ended: called with the end of the reply, whatever its cause.
    static func follow(
        _ fetch: Fetch, _ mediaType: MediaType, playerTimeout: Duration, to exchange: Exchange,
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
        let limit = Deadline(after: playerTimeout) {
            // Bytes have begun to arrive but cannot be sent before the last one, so the reply keeps waiting.
            let decision = GiveUpRule.decision(
                afterTimeoutOf: whole != nil, hasBytes: fetch.written > 0, isInsisting: fetch.isWaitingForNetwork)
            if decision == .wait { return }
            if decision == .sendHead { return fetch.announce() }
            let sentence = "the origin has sent nothing for \(playerTimeout.components.seconds) seconds"
            refuse(LibraryError(.originAbsent, sentence), .gatewayTimeout)
        }
        let stallWatch = whole.map { _ in
            StallWatch(of: fetch) {
                guard exchange.isOpen, !isRefused else { return }
                fetch.doubtOrigin()
                isRefused = instead(LibraryError(.originAbsent, "the origin has gone silent"))
            }
        }
        let answer = { @LoopActor (result: Result<Void, FetchError>) in
            limit.cancel()
            stallWatch?.cancel()
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

    /// Answers with the bytes that a fetch has received and those that it will still receive.
    ///
    /// - Parameter status: the Cache-Status to send; nil for the current one of the fetch.
    static func send(
        _ fetch: Fetch, _ mediaType: MediaType, _ status: CacheStatus? = nil, to exchange: Exchange
    ) {
        let size = fetch.isComplete ? fetch.written : fetch.length ?? fetch.resource.exactLength
        var representation = Representation(size: size, mediaType: mediaType)
        representation.fields = (status ?? CacheStatus.of(fetch)).head
        exchange.reply(representation, .growing(GrowingReply(fetch)))
    }
}

/// Watches a fetch of which nothing is sent yet, and fires when it makes no progress: see `GiveUpRule`.
@LoopActor private final class StallWatch {
    private var timer: LoopTimer?
    private var written: Int64
    private var since = ContinuousClock.now

    init(of fetch: Fetch, _ action: @escaping @LoopActor () -> Void) {
        written = fetch.written
        timer = LoopTimer { [unowned self, unowned fetch] in
            if written != fetch.written { (written, since) = (fetch.written, .now) }
            if GiveUpRule.decision(withoutProgressFor: .now - since) == .substitute { return action() }
            timer?.schedule(after: GiveUpRule.stallCheck)
        }
        timer?.schedule(after: GiveUpRule.stallCheck)
    }

    func cancel() { timer = nil }
}

/// Runs an action after a delay unless it is cancelled first.
@LoopActor private final class Deadline {
    private var timer: LoopTimer?

    init(after delay: Duration, _ action: @escaping @LoopActor () -> Void) {
        timer = LoopTimer(action)
        timer?.schedule(after: delay)
    }

    func cancel() { timer = nil }
}
