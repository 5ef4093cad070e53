import EventLoop
import Glibc
import HTTPMessage
import HTTPServer
import Library
import SegmentFormat

/// Answers a segment request with something else than the unchanged piece: a substitute, or a piece with inserted
/// parameter sets.
@LoopActor struct SplicedReply {
    /// The substitute rendition; nil for the rendition's own piece.
    var standIn: String?
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
        representation.entityTag = EntityTag(tag + (standIn.map { "-\($0)" } ?? "") + (splice == nil ? "" : "-joined"))
        representation.ignoresRange = isOther
        // A later answer for this URL may be better.
        representation.fields.append(.cacheControl, literal: "no-store")
        var status = status
        if let standIn { status.detail = "\(standIn) stands in" }
        representation.fields.append(status)
        return representation
    }
}
