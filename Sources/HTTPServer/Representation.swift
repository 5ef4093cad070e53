public import HTTPMessage

/// What is known of something that can be asked for whole or in part.
public struct Representation: Sendable {
    /// In bytes; nil while it is not known yet.
    public var size: Int64?
    /// What it is.
    public var mediaType: MediaType
    /// Its validator, when its bytes can be told from others by it.
    public var entityTag: EntityTag?
    /// When its bytes last changed.
    public var lastModified: HTTPDate?
    /// Whether all of it is sent whatever range is asked for, as RFC 9110 §14.2 allows: where the range would go on with
    /// what was sent of other bytes.
    public var ignoresRange = false
    /// Further fields, Cache-Control or Cache-Status for instance; the status is not looked at.
    public var fields = ResponseHead(.ok)

    /// A representation without validators and further fields.
    public init(size: Int64?, mediaType: MediaType) {
        self.size = size
        self.mediaType = mediaType
    }
}

/// Where a representation's bytes are.
public enum RepresentationBody: ~Copyable {
    /// In memory.
    case bytes([UInt8])
    /// In a file, from its first byte; taken over and closed.
    case file(OwnedDescriptor)
    /// In memory and in ranges of one file, which is taken over and closed.
    case parts(OwnedDescriptor, [ReplyPart])
    /// In a file that grows, from its first byte.
    case growing(any GrowingBody)
}

extension Exchange {
    /// Answers a GET or HEAD with a representation, or with what the request's conditions and range leave of it:
    /// 200, 206, 304 or 416 (RFC 9110 §13, §14).
    public func reply(_ representation: Representation, _ body: consuming RepresentationBody) {
        let selection = RepresentationSelection(
            for: head, size: representation.size, entityTag: representation.entityTag,
            lastModified: representation.lastModified)
        switch selection {
        case .notModified: reply(representation.head(.notModified))
        case .part where representation.ignoresRange, .unsatisfiable where representation.ignoresRange, .whole:
            reply(representation.head(.ok), body.part(offset: 0, length: representation.size))
        case .part(let range):
            var head = representation.head(.partialContent)
            head.append(.satisfied(range, size: representation.size))
            reply(head, body.part(offset: range.lowerBound, length: Int64(range.count)))
        case .unsatisfiable:
            var head = ResponseHead(.rangeNotSatisfiable)
            head.append(.unsatisfied(size: representation.size ?? 0))
            head.append(.text)
            reply(head, .bytes([UInt8]("The range lies beyond the end.\n".utf8)))
        }
    }
}

extension Representation {
    /// The fields that go with each status: what a 304 repeats (RFC 9110 §15.4.5), and the rest only with a body.
    fileprivate func head(_ status: HTTPStatus) -> ResponseHead {
        var head = ResponseHead(status)
        if status != .notModified { head.append(mediaType) }
        if size != nil { head.append(.acceptRanges, literal: "bytes") }
        if let entityTag { head.append(entityTag) }
        if let lastModified { head.append(.lastModified, lastModified) }
        head.append(fieldsOf: fields)
        return head
    }
}

extension RepresentationBody {
    /// So many bytes from there on; all to the end without a length, which only a growing body can be without.
    fileprivate consuming func part(offset: Int64, length: Int64?) -> ReplyBody {
        switch consume self {
        case .bytes(let bytes):
            let end = length.map { Int(offset + $0) } ?? bytes.count
            return .bytes(offset == 0 && end == bytes.count ? bytes : Array(bytes[Int(offset)..<end]))
        case .file(let file): return .file(file, offset: offset, length: length ?? 0)
        case .parts(let file, let parts):
            let end = length.map { offset + $0 } ?? parts.length
            return .parts(file, offset == 0 && end == parts.length ? parts : parts.parts(in: offset..<end))
        case .growing(let body): return .growing(body, offset: offset, length: length)
        }
    }
}
