/// An MPEG-2 Transport Stream Media Segment (RFC 8216 §3.2), read as far as it must fit its neighbours.
public struct TransportStream: Hashable, Sendable {
    /// One elementary stream.
    public struct Stream: Hashable, Sendable {
        /// The packet identifier.
        public let pid: UInt16
        /// As in ISO/IEC 13818-1 table 2-34: 0x1B is AVC, 0x24 HEVC, 0x0F AAC.
        public let type: UInt8
        /// The first presentation time, in ticks of 90 kHz modulo 2^33; nil where none was found.
        public internal(set) var firstTime: UInt64?
        /// Whether its first picture is one where a decoder can begin and show all that follows; nil where nothing
        /// tells, and of what is not video.
        public internal(set) var beginsAtKeyFrame: Bool?
        /// The counter of its packets before its first one; nil where it has none.
        var counterBefore: UInt8?

        /// Video, as far as HLS has it.
        public var isVideo: Bool { [0x01, 0x02, 0x1B, 0x24, 0xDB].contains(type) }
    }

    /// PAT and PMT stand before any media, as RFC 8216 §3.2 wants it.
    public let beginsWithTables: Bool
    /// The packet identifier of the first program's map.
    public let mapPID: UInt16
    /// The streams of the first program, in the order of its map.
    public let streams: [Stream]
    /// The length of the file in bytes.
    public let count: Int
    /// Where the first packet of a stream is, and what is before it if that was read with it.
    let (mediaStart, lead): (Int, [UInt8]?)

    /// Reads a segment up to where each stream has a time, and each video its first picture; to the end if need be.
    public init(_ source: ByteSource) throws(SegmentFormatError) {
        var scan = TransportScan()
        guard source.count >= TransportPacket.size else {
            throw SegmentFormatError(.truncated, "\(source.count) bytes are no packet of a transport stream")
        }
        let whole = source.count - source.count % TransportPacket.size
        for start in stride(from: 0, to: whole, by: Self.chunk) where !scan.isDone {
            try scan.take(try source.bytes(start..<min(whole, start + Self.chunk)))
        }
        guard let mapPID = scan.mapPID else {
            throw SegmentFormatError(.missingBox, in: "PAT", at: nil, "there is none in the segment")
        }
        guard !scan.streams.isEmpty else {
            throw SegmentFormatError(.missingBox, in: "PMT", at: nil, "there is none in the segment")
        }
        (beginsWithTables, self.mapPID, streams) = (scan.beginsWithTables, mapPID, scan.streams)
        (mediaStart, lead) = scan.beginning ?? (0, nil)
        count = source.count
    }

    /// Packets of one reading.
    private static let chunk = 348 * TransportPacket.size

    /// A segment that has been read already.
    init(beginsWithTables: Bool, mapPID: UInt16, streams: [Stream]) {
        (self.beginsWithTables, self.mapPID, self.streams) = (beginsWithTables, mapPID, streams)
        (mediaStart, lead, count) = (0, nil, 0)
    }

    /// The segment as it comes behind one of another rendition, or in front of which one was: each stream's packets are
    /// numbered, and a packet behind the tables tells that the numbers go on from elsewhere.
    ///
    /// Without it all frames are decoded too, but libavformat (ffmpeg, mpv) calls the first packet corrupt. Where the
    /// numbers happen to go on, it does no harm; so it may be done to any segment of a composite.
    public func splice() -> Splice {
        var bytes = lead ?? []
        for stream in streams {
            guard let counter = stream.counterBefore else { continue }
            bytes += TransportPacket.discontinuity(pid: stream.pid, counter: counter)
        }
        let pieces: [Splice.Piece] = [
            .original(0..<(lead == nil ? mediaStart : 0)), .bytes(bytes), .original(mediaStart..<count),
        ].filter { $0.count > 0 }
        return Splice(pieces: pieces, count: pieces.reduce(0) { $0 + $1.count })
    }

    /// Makes sure that its video can be decoded from its first picture on, as far as that can be seen.
    public func checkBeginning() throws(SegmentFormatError) {
        guard streams.contains(where: { $0.beginsAtKeyFrame == false }) else { return }
        throw SegmentFormatError(.cannotJoin, "it does not begin with a key frame")
    }

    /// Why this segment cannot stand where another of the same time could: a sentence without a full stop; nil when it
    /// can.
    ///
    /// Both must have the same streams, and begin with their tables; this one's video must not be known to begin within
    /// a group of pictures.
    public func obstacle(inPlaceOf other: TransportStream) -> String? {
        guard beginsWithTables else { return "it does not begin with PAT and PMT" }
        func list(_ stream: TransportStream) -> [[UInt16]] {
            stream.streams.map { [$0.pid, UInt16($0.type)] }.sorted { $0[0] < $1[0] }
        }
        guard list(self) == list(other) else { return "it has other streams: \(names), and \(other.names) there" }
        if streams.contains(where: { $0.beginsAtKeyFrame == false }) { return "it does not begin with a key frame" }
        return nil
    }

    private var names: String {
        streams.map { "0x" + String($0.pid, radix: 16) + " of type 0x" + String($0.type, radix: 16) }
            .joined(separator: ", ")
    }
}
