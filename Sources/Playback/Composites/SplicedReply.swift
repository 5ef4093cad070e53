import EventLoop
import Glibc
import HTTPMessage
import HTTPServer
import Library
import SegmentFormat

/// A segment's answer that is not the rendition's own piece as it lies: another's piece, or one with parameter sets put
/// into it.
@LoopActor struct SplicedReply {
    /// Whose piece it is; nil for the rendition's own.
    var standIn: String?
    /// How it is sent; nil for as it lies.
    var splice: Splice?
    /// What kind of file the player has asked for.
    var mediaType: MediaType
    /// How it came about.
    var status = CacheStatus.hit
    /// Whether a range would go on with what was sent of other bytes.
    var isOther = false

    /// Answers from an open file, which is taken over.
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
        // Another source, other bytes: nobody may go on with one where the other ended.
        representation.entityTag = EntityTag(tag + (standIn.map { "-\($0)" } ?? "") + (splice == nil ? "" : "-joined"))
        representation.ignoresRange = isOther
        // What the same URL is answered with later may be better.
        representation.fields.append(.cacheControl, literal: "no-store")
        var status = status
        if let standIn { status.detail = "\(standIn) stands in" }
        representation.fields.append(status)
        return representation
    }
}
