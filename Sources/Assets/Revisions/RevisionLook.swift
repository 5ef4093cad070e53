import EventLoop
import Fetching
import HTTPMessage
import Origin
import Store

/// A stored piece that is compared with the origin's.
@LoopActor struct RevisionSample {
    let folder: PieceFolder
    let resource: Resource
    let size: Int64
    var piece: UncomparedPieces.Piece { .init(folder: folder.id, file: file) }
    var file: String { resource.name.description }

    /// Nil if the piece is not stored, is empty, or is named by no playlist any more.
    init?(_ name: PieceName, of rendition: Rendition) {
        guard let resource = rendition.resource(named: name), let size = rendition.folder.sizes[name.description],
            size > 0
        else { return nil }
        folder = rendition.folder
        self.resource = resource
        self.size = size
    }
}

/// The result of a look at the origin's copy of a stored piece.
struct RevisionLook: Sendable {
    enum Result: Sendable {
        case same
        /// Proven by the length or by compared bytes.
        case other
        /// The origin did not show it.
        case unknown
    }

    var result: Result
    /// Nil if the origin did not answer.
    var head: OriginHead?

    /// Bytes that are compared. Encodings of other content differ within them.
    static let count: Int64 = 4096

    /// Compares the length and the first bytes of a piece with the origin's, by one small request for a range. Where the origin has
    /// stated a strong entity tag, the request is conditional, and an unchanged piece comes without a body. A weak tag is no proof.
    @LoopActor static func take(
        at sample: RevisionSample, of asset: Asset, by client: OriginClient, within limit: Duration,
        tag: EntityTag?
    ) async -> RevisionLook {
        let copy = OriginCopy(sample: sample, asset: asset, client: client, limit: limit)
        let count = min(sample.size, count)
        guard let (head, bytes) = await copy.bytes(0..<count, unless: tag) else {
            return RevisionLook(result: .unknown)
        }
        guard !asset.isRemoved, sample.folder.sizes[sample.file] == sample.size else {
            return RevisionLook(result: .unknown)
        }
        if head.status == 304 {
            return RevisionLook(result: .same, head: head)
        }
        guard head.status < 300 else { return RevisionLook(result: .unknown, head: head) }
        // A piece that another program has changed would prove that the origin has other content.
        guard await sample.folder.isFoundSound(sample.file) else { return RevisionLook(result: .unknown, head: head) }
        let stored = sample.folder.beginning(of: sample.file, count: Int(count))
        guard !stored.isEmpty else { return RevisionLook(result: .unknown, head: head) }

        if bytes == stored {
            return RevisionLook(result: await result(of: head, tag: tag, sample: sample, copy: copy), head: head)
        }
        // A page in place of media, such as that of a hotel's network, says nothing about the media. Ciphertext does.
        guard MediaSignature.mayBeMedia(bytes) else {
            return RevisionLook(result: .unknown, head: head)
        }
        // An origin that makes each reply anew cannot be compared.
        if bytes != stored, let again = await copy.bytes(0..<count)?.bytes, again != bytes, again != stored {
            return RevisionLook(result: .unknown, head: head)
        }
        return RevisionLook(result: .other, head: head)
    }
}

extension RevisionLook {
    /// The result for a copy whose first bytes are those of the stored piece.
    ///
    /// The size of the file in a reply with a part proves a change. A stated length of a whole body does not, because origins that
    /// make the body anew state it wrong, and neither does an entity tag, which servers of one origin may give to equal bytes: then
    /// the piece's other bytes decide.
    @LoopActor private static func result(
        of head: OriginHead, tag: EntityTag?, sample: RevisionSample, copy: OriginCopy
    ) async -> Result {
        if head.status == 206, sample.resource.range == nil, let size = head.completeLength, size != sample.size {
            return .other
        }
        let isWhole = head.status != 206 && sample.resource.range == nil
        if isWhole, let length = head.statedLength, length != sample.size {
            return await copy.isSameWhole()
        }
        let isTagAlike = head.strongTag == nil || tag == nil || head.strongTag == tag
        guard !isTagAlike else { return .same }
        guard await copy.isSameElsewhere() else { return .other }
        return .same
    }
}

/// The origin's copy of a stored piece, of which parts are requested.
@LoopActor private struct OriginCopy {
    let sample: RevisionSample
    let asset: Asset
    let client: OriginClient
    let limit: Duration

    /// Bytes of the piece, fewer if its end is before; nil if the origin does not send them.
    /// - Parameter tag: the entity tag that makes the request conditional; nil if the bytes are needed in any case.
    func bytes(_ range: Range<Int64>, unless tag: EntityTag? = nil) async -> (head: OriginHead, bytes: [UInt8])? {
        let start = sample.resource.range?.lowerBound ?? 0
        var request = OriginRequest(sample.resource.url)
        asset.access.grant(to: &request)
        request.range = start + range.lowerBound..<start + range.upperBound
        // Where the origin knows no ranges, a second request would bring as many bytes in vain.
        request.acceptsWhole = true
        request.deadline = limit
        request.retries = .hasty
        if let line = tag.flatMap({ FieldLine("If-None-Match: \($0)".utf8) }) {
            request.fields.append(line)
            request.acceptsRefusals = true
        }
        do throws(OriginError) {
            return try await client.fetch(request)
        } catch {
            // An origin that sends no ranges, or another resource that ends earlier.
            guard error.code == .rangeIgnored || error.code == .wrongRange || error.code == .cutShort,
                sample.resource.range == nil, range.lowerBound == 0
            else { return nil }
            request.range = nil
            return try? await client.fetchHeadAndBeginning(of: request, count: range.count)
        }
    }

    /// Compares the whole body: it has another length, of which only its end shows if it is true.
    func isSameWhole() async -> RevisionLook.Result {
        var request = OriginRequest(sample.resource.url)
        asset.access.grant(to: &request)
        request.deadline = limit
        request.retries = .hasty
        guard let (_, bytes) = try? await client.fetch(request) else { return .unknown }
        let stored = sample.folder.beginning(of: sample.file, count: Int(sample.size))
        guard bytes == stored else { return .other }
        return .same
    }

    /// Compares bytes of the middle and of the end: the entity tag is another one, which servers of one origin may give to equal
    /// bytes.
    func isSameElsewhere() async -> Bool {
        let count = min(sample.size, RevisionLook.count)
        for offset in [(sample.size - count) / 2, sample.size - count] {
            guard let (_, bytes) = await bytes(offset..<offset + count) else { continue }
            if bytes != sample.folder.bytes(of: sample.file, from: offset, count: Int(count)) {
                return false
            }
        }
        return true
    }
}

extension OriginHead {
    /// The entity tag, unless it is weak.
    var strongTag: EntityTag? {
        guard case .entityTag(let tag)? = validator else { return nil }
        return tag
    }
}
