import EventLoop
import Fetching
import Glibc
import HTTPMessage
import HTTPServer
import Library
import SegmentFormat

/// Answers a request for one resource, unchanged, from its stored file or from a fetch.
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

/// Answers a segment request with something else than the unchanged piece: a substitute, or a piece with inserted
/// parameter sets.
@LoopActor struct SplicedReply {
    /// The substitute rendition; nil for the rendition's own piece.
    var substitute: String?
    /// The splice to apply; nil to send the file unchanged.
    var splice: Splice?
    /// The type of the file that the player requested.
    var mediaType: MediaType
    /// The Cache-Status to send.
    var status = CacheStatus.hit
    /// True if a range request would continue a body of other bytes.
    var isOther = false

    /// Answers from an open file, and takes ownership of it.
    func send(_ descriptor: Int32, to exchange: Exchange) {
        let owned = OwnedDescriptor(descriptor)
        var file = stat()
        guard fstat(descriptor, &file) == 0 else {
            return exchange.reply(.internalServerError, "The piece cannot be read.")
        }
        let parts = splice.map { splice in
            splice.pieces.map { piece -> ReplyPart in
                switch piece {
                case .original(let range): .file(Int64(range.lowerBound)..<Int64(range.upperBound))
                case .bytes(let bytes): .bytes(bytes)
                }
            }
        }
        let size = splice.map { Int64($0.count) } ?? Int64(file.st_size)
        let representation = representation(size, PieceReply.tag(file))
        guard let parts else { return exchange.reply(representation, .file(owned)) }
        exchange.reply(representation, .parts(owned, parts))
    }

    private func representation(_ size: Int64, _ tag: String) -> Representation {
        var representation = Representation(size: size, mediaType: mediaType)
        // A different source means different bytes, so a client must not continue one with the other.
        let suffix = (substitute.map { "-\($0)" } ?? "") + (splice == nil ? "" : "-joined")
        representation.entityTag = EntityTag(tag + suffix)
        representation.ignoresRange = isOther
        // A later answer for this URL may be better.
        representation.fields.append(.cacheControl, literal: "no-store")
        var status = status
        if let substitute { status.detail = "\(substitute) stands in" }
        representation.fields.append(status)
        return representation
    }
}

/// Adapts a fetch's growing file to the server's interface.
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
        if let id = subscriptions.removeValue(forKey: ObjectIdentifier(reader)) { fetch.unsubscribe(id) }
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
        case .passed: .hit
        }
    }

    /// Returns the status of a request that the origin did not answer with the resource.
    func refused(_ error: LibraryError) -> CacheStatus {
        var status = self
        status.isStored = false
        status.forwardStatus = error.originStatus.map { HTTPStatus($0) }
        return status
    }

    /// A head that holds only this field.
    fileprivate var head: ResponseHead {
        var head = ResponseHead(.ok)
        head.append(self)
        return head
    }
}

extension Exchange {
    /// Answers with a sentence for a person and a Cache-Status field.
    func refuse(_ status: HTTPStatus, _ sentence: String, _ cacheStatus: CacheStatus) {
        var head = ResponseHead(status)
        head.append(.text)
        head.append(cacheStatus)
        reply(head, .bytes([UInt8]("\(sentence)\n".utf8)))
    }
}
