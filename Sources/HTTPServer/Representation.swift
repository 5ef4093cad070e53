public import HTTPMessage

/// Metadata of a representation that can be requested whole or in part.
public struct Representation: Sendable {
    /// Size in bytes; nil while it is unknown.
    public var size: Int64?
    /// The media type.
    public var mediaType: MediaType
    /// The entity tag; nil if the bytes have none.
    public var entityTag: EntityTag?
    /// The time of the last change.
    public var lastModified: HTTPDate?
    /// True to ignore Range (RFC 9110 §14.2 allows it): the range would continue a different representation.
    public var ignoresRange = false
    /// Further fields, for instance Cache-Control or Cache-Status. Its status is ignored.
    public var fields = ResponseHead(.ok)
    /// The head of the whole representation, if it was written before; later changes of the metadata do not reach it.
    private(set) var wholeHead: ResponseHead?
    /// Creates metadata without validators and further fields.
    public init(size: Int64?, mediaType: MediaType) {
        self.size = size
        self.mediaType = mediaType
    }

    /// A copy whose head is written already, for a representation that is sent again and again.
    public var prepared: Self {
        var prepared = self
        prepared.wholeHead = head(.ok)
        return prepared
    }
}

/// The bytes of a representation.
public enum RepresentationBody: ~Copyable {
    case bytes([UInt8])
    case rendered(any RenderedBody)
    /// In a file, from its first byte. Owned and closed by the reply.
    case file(OwnedDescriptor)
    /// In memory and in ranges of one file, which the reply owns and closes.
    case parts(OwnedDescriptor, [ReplyPart])
    case growing(any GrowingBody)
}

extension Exchange {
    /// Answers a GET or HEAD as its conditions and range require: 200, 206, 304 or 416 (RFC 9110 §13, §14).
    public func reply(_ representation: Representation, _ body: consuming RepresentationBody) {
        guard !isBegun else { return reply(ResponseHead(.ok), body.part(offset: 0, length: representation.size)) }
        let selection = RepresentationSelection(
            for: head, size: representation.size, entityTag: representation.entityTag,
            lastModified: representation.lastModified)
        switch selection {
        case .notModified: reply(representation.head(.notModified))
        case .part where representation.ignoresRange, .unsatisfiable where representation.ignoresRange, .whole:
            reply(
                representation.wholeHead ?? representation.head(.ok), body.part(offset: 0, length: representation.size))
        case .part(let range):
            var head = representation.head(.partialContent)
            head.append(.satisfied(range, size: representation.size))
            reply(head, body.part(offset: range.lowerBound, length: Int64(range.count)))
        case .unsatisfiable:
            var head = ResponseHead(.rangeNotSatisfiable)
            head.append(.unsatisfied(size: representation.size ?? 0))
            head.append(.text)
            reply(head, .bytes([UInt8]("The range is beyond the end.\n".utf8)))
        }
    }
}

extension Representation {
    /// The fields for a status: a 304 omits those that describe its body (RFC 9110 §15.4.5).
    fileprivate func head(_ status: HTTPStatus) -> ResponseHead {
        var head = ResponseHead(status)
        if status != .notModified {
            head.append(mediaType)
        }
        if size != nil {
            head.append(.acceptRanges, literal: "bytes")
        }
        if let entityTag {
            head.append(entityTag)
        }
        if let lastModified {
            head.append(.lastModified, lastModified)
        }
        head.append(fieldsOf: fields)
        return head
    }
}

extension RepresentationBody {
    /// The bytes from `offset`; up to the end without `length`, which only a growing body may lack.
    fileprivate consuming func part(offset: Int64, length: Int64?) -> ReplyBody {
        switch consume self {
        case .bytes(let bytes):
            let end = Int(Self.end(of: Int64(bytes.count), offset: offset, length: length))
            guard offset != 0 || end != bytes.count else { return .bytes(bytes) }
            return .bytes(Array(bytes[Int(offset)..<end]))
        case .rendered(let body):
            let end = Int(Self.end(of: Int64(body.count), offset: offset, length: length))
            return .rendered(body, Int(offset)..<end)
        case .file(let file): return .file(file, offset: offset, length: length ?? 0)
        case .parts(let file, let parts):
            let end = Self.end(of: parts.length, offset: offset, length: length)
            guard offset != 0 || end != parts.length else { return .parts(file, parts) }
            return .parts(file, parts.parts(in: offset..<end))
        case .growing(let body): return .growing(body, offset: offset, length: length)
        }
    }

    private static func end(of count: Int64, offset: Int64, length: Int64?) -> Int64 {
        guard let length else { return count }
        return offset + length
    }
}
