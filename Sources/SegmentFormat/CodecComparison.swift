/// Compares the decoder's parameters at the beginning of two pieces of media, to tell two encodings of one film apart.
///
/// Lines of a sloppy master have equal attributes, and their segments equal durations, although they are different
/// qualities: only the media shows it. Parameter sets hold the picture's size, profile and level.
public enum CodecComparison {
    /// The number of bytes at the beginning of a segment that show its parameters.
    public static let length = 64 << 10

    /// The decoders of two pieces of media.
    public enum Decoders: Sendable {
        case same
        case different
        /// At least one of the pieces shows no parameters, such as ciphertext.
        case unknown
    }

    /// Compares two initialization sections, or the first bytes of two segments.
    public static func decoders(of one: [UInt8], and other: [UInt8]) -> Decoders {
        if one == other {
            return .same
        }
        guard let areEqual = haveEqualParameters(one, other) else { return .unknown }
        return areEqual ? .same : .different
    }

    /// Nil if either piece shows no parameters.
    private static func haveEqualParameters(_ one: [UInt8], _ other: [UInt8]) -> Bool? {
        if let one = try? InitializationSection(one), let other = try? InitializationSection(other) {
            return SplicePair(of: one, behind: other).verdict == .equivalent
        }
        if let one = parameterSets(one), let other = parameterSets(other) {
            return one == other
        }
        if let one = try? PackedAudio(ByteSource(one)), let other = try? PackedAudio(ByteSource(other)) {
            return one.mismatch(inPlaceOf: other) == nil
        }
        return nil
    }

    /// The streams of a piece of media.
    public enum Streams: Sendable {
        case withVideo
        case withoutVideo
        /// The piece shows none, such as ciphertext.
        case unknown
    }

    /// Looks for video in an initialization section, or in the beginning of a segment.
    public static func streams(in bytes: [UInt8]) -> Streams {
        let hasVideo: Bool
        if let section = try? InitializationSection(bytes) {
            hasVideo = section.tracks.contains { $0.handler == "vide" }
        } else if let stream = try? TransportStream(ByteSource(bytes)) {
            hasVideo = stream.streams.contains(where: \.isVideo)
        } else {
            guard (try? PackedAudio(ByteSource(bytes))) != nil else { return .unknown }
            hasVideo = false
        }
        return hasVideo ? .withVideo : .withoutVideo
    }

    /// The streams of a transport stream with their first parameter sets; nil for anything else, and if a video stream
    /// shows none.
    private static func parameterSets(_ bytes: [UInt8]) -> [[UInt8]]? {
        let size = TransportPacket.size
        let file = FileBytes(bytes: Array(bytes.prefix(bytes.count - bytes.count % size)), origin: 0)
        guard let stream = try? TransportStream(ByteSource(file.bytes)) else { return nil }

        var payloads: [UInt16: [UInt8]] = [:]
        for start in stride(from: 0, to: file.bytes.count, by: size) {
            guard let packet = try? TransportPacket(file, at: start) else { break }
            payloads[packet.pid, default: []] += file[packet.payload]
        }

        var found: [[UInt8]] = []
        for elementary in stream.streams {
            let payload = payloads[elementary.pid] ?? []
            found.append([elementary.type])
            switch elementary.type {
            case 0x1B: found += units(of: payload) { $0 & 0x1F == 7 }
            case 0x24: found += units(of: payload) { $0 >> 1 & 0x3F == 33 }
            default: found += adtsHeader(payload)
            }
            if elementary.isVideo, found.last?.count == 1 {
                return nil
            }
        }
        return found
    }

    /// The first NAL unit of a type (ISO/IEC 14496-10 annex B), without its start code.
    private static func units(of payload: [UInt8], _ isWanted: (UInt8) -> Bool) -> [[UInt8]] {
        var begin: Int?
        for index in payload.indices.dropLast(3) {
            guard payload[index] == 0, payload[index + 1] == 0, payload[index + 2] <= 1 else { continue }
            if let begin {
                return [Array(payload[begin..<index])]
            }
            if payload[index + 2] == 1, isWanted(payload[index + 3]) {
                begin = index + 3
            }
        }
        return []
    }

    /// Object type, rate and channels of the first ADTS frame after the PES header; empty for other sound.
    private static func adtsHeader(_ payload: [UInt8]) -> [[UInt8]] {
        guard payload.count > 9, payload.starts(with: [0, 0, 1]) else { return [] }
        let start = 9 + Int(payload[8])
        guard payload.count > start + 3, payload[start] == 0xFF, payload[start + 1] & 0xF6 == 0xF0 else { return [] }
        return [[payload[start + 2] & 0xFD, payload[start + 3] & 0xC0]]
    }
}
