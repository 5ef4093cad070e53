/// An MPEG-2 Transport Stream Media Segment (RFC 8216 §3.2), reduced to the parts that must match for substitution.
public struct TransportStream: Hashable, Sendable {
    /// One elementary stream.
    public struct Stream: Hashable, Sendable {
        /// Packet identifier (PID).
        public let pid: UInt16
        /// Stream type (ISO/IEC 13818-1 table 2-34): 0x1B is AVC, 0x24 HEVC, 0x0F AAC.
        public let type: UInt8
        /// First presentation time, in ticks of 90 kHz modulo 2^33; nil if none was found.
        public internal(set) var firstTime: UInt64?
        /// True if a decoder can start at the first picture and show all that follows; nil if unknown or not video.
        public internal(set) var beginsAtKeyFrame: Bool?
        /// Continuity counter before the first packet; nil without packets.
        var counterBefore: UInt8?
        /// True for the video types that HLS uses.
        public var isVideo: Bool { [0x01, 0x02, 0x1B, 0x24, 0xDB].contains(type) }
    }

    /// True if PAT and PMT precede all media (RFC 8216 §3.2).
    public let beginsWithTables: Bool
    /// PID of the first program's PMT.
    let mapPID: UInt16
    /// Streams of the first program, in PMT order.
    public let streams: [Stream]
    let count: Int
    /// File offset of the first media packet.
    let mediaStart: Int
    /// The bytes before the first media packet, if they were in the same read.
    let lead: [UInt8]?

    /// Scans a segment until each stream has a time and each video stream its first picture, at most to the end.
    public init(_ source: ByteSource) throws(SegmentFormatError) {
        var scan = TransportScan()
        guard source.count >= TransportPacket.size else {
            throw SegmentFormatError(.truncated, "\(source.count) bytes are no packet of a transport stream")
        }
        let whole = source.count - source.count % TransportPacket.size
        for start in stride(from: 0, to: whole, by: Self.chunk) where !scan.isDone {
            try scan.scan(try source.bytes(start..<min(whole, start + Self.chunk)))
        }
        guard let mapPID = scan.mapPID else {
            throw SegmentFormatError(.missingBox, in: "PAT", "there is none in the segment")
        }
        guard !scan.streams.isEmpty else {
            throw SegmentFormatError(.missingBox, in: "PMT", "there is none in the segment")
        }
        beginsWithTables = scan.beginsWithTables
        self.mapPID = mapPID
        streams = scan.streams
        (mediaStart, lead) = scan.beginning ?? (0, nil)
        count = source.count
    }

    private static let chunk = 348 * TransportPacket.size

    /// Creates a segment from values parsed earlier.
    init(beginsWithTables: Bool, mapPID: UInt16, streams: [Stream]) {
        self.beginsWithTables = beginsWithTables
        self.mapPID = mapPID
        self.streams = streams
        mediaStart = 0
        lead = nil
        count = 0
    }

    /// Splices the segment for use after a segment of another rendition: inserts a packet per stream, after the tables,
    /// that announces the jump of the continuity counter.
    ///
    /// Frames decode without these packets as well, but libavformat (ffmpeg, mpv) reports the first packet as corrupt.
    /// They are harmless if the counters happen to continue, so any segment of a substituted playlist may be spliced.
    public func splice() -> Splice {
        var bytes = lead ?? []
        for stream in streams {
            guard let counter = stream.counterBefore else { continue }
            bytes += TransportPacket.discontinuity(pid: stream.pid, counter: counter)
        }
        // The lead stands for the bytes before the media.
        let leadEnd = lead == nil ? mediaStart : 0
        let pieces: [Splice.Piece] = [
            .original(0..<leadEnd), .bytes(bytes), .original(mediaStart..<count),
        ].filter { $0.count > 0 }
        return Splice(pieces: pieces, count: pieces.reduce(0) { $0 + $1.count })
    }

    /// Throws if the video is known not to start at a key frame.
    public func checkBeginning() throws(SegmentFormatError) {
        guard streams.contains(where: { $0.beginsAtKeyFrame == false }) else { return }
        throw SegmentFormatError(.cannotJoin, "it does not begin with a key frame")
    }

    /// Returns the reason why this segment cannot replace another of the same time, without a full stop; nil if it can.
    ///
    /// Both need the same streams and start with tables; this video must not be known to start inside a group of pictures.
    public func mismatch(inPlaceOf other: TransportStream) -> String? {
        guard beginsWithTables else { return "it does not begin with PAT and PMT" }
        func list(_ stream: TransportStream) -> [[UInt16]] {
            stream.streams.map { [$0.pid, UInt16($0.type)] }.sorted { $0[0] < $1[0] }
        }
        guard list(self) == list(other) else { return "it has other streams: \(names), and \(other.names) there" }
        if streams.contains(where: { $0.beginsAtKeyFrame == false }) {
            return "it does not begin with a key frame"
        }
        return nil
    }

    private var names: String {
        streams.map { "0x" + String($0.pid, radix: 16) + " of type 0x" + String($0.type, radix: 16) }
            .joined(separator: ", ")
    }
}
