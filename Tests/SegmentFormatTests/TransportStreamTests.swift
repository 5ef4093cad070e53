import TestSupport
import Testing

@testable import SegmentFormat

@Suite("A transport stream")
struct TransportStreamTests {
    private static func times(_ stream: TransportStream) -> [UInt64?] { stream.streams.map(\.firstTime) }

    private func stream(_ path: String) throws -> TransportStream {
        try TransportStream(ByteSource(try Fixture.bytes(path)))
    }

    @Test("has streams, first times and a key frame at the start", arguments: ["90p", "180p", "270p"])
    func readsFixtures(variant: String) throws {
        for number in 0..<6 {
            let read = try stream("ts/\(variant)/\(number).ts")
            #expect(read.beginsWithTables && read.mapPID == 0x1000)
            #expect(read.streams.map(\.pid) == [0x100, 0x101] && read.streams.map(\.type) == [0x1B, 0x0F])
            #expect(read.streams.map(\.beginsAtKeyFrame) == [true, nil])
            let first = try #require(try stream("ts/\(variant)/0.ts").streams[0].firstTime)
            #expect(read.streams[0].firstTime == first + UInt64(number) * 180_000)
        }
    }

    @Test("can replace another with the same streams and time")
    func acceptsSameStreams() throws {
        let own = try stream("ts/180p/3.ts")
        let other = try stream("ts/270p/3.ts")
        #expect(own.mismatch(inPlaceOf: other) == nil && Self.times(own) == Self.times(other))
        #expect(Self.times(own) != Self.times(try stream("ts/270p/4.ts")))
    }

    @Test("decodes to its own frames when substituted")
    func decodesSubstitutedFrames() async throws {
        func segments(_ variant: String) throws -> [[UInt8]] {
            try (0..<6).map { try Fixture.bytes("ts/\(variant)/\($0).ts") }
        }
        func frames(_ segments: [[UInt8]]) async throws -> FrameHashes {
            try await Playlist(initialization: nil, segments: segments, seconds: 2).frames()
        }
        let high = try segments("270p")
        let low = try segments("180p")
        for number in 2..<4 {
            let (own, other) = (
                try TransportStream(ByteSource(low[number])), try TransportStream(ByteSource(high[number]))
            )
            #expect(own.mismatch(inPlaceOf: other) == nil && Self.times(own) == Self.times(other))
        }
        let composite = try (high[..<2] + low[2..<4] + high[4...]).enumerated().map { number, bytes in
            number < 2 ? bytes : try TransportStream(ByteSource(bytes)).splice().joined(with: bytes)
        }
        let found = try await frames(composite)
        let highs = try await frames(high)
        let lows = try await frames(low)
        #expect(found.errors == "")
        let pictures = (highs.streams[0].frames, lows.streams[0].frames)
        #expect(pictures.0.count == 120 && pictures.1.count == 120)
        #expect(found.streams[0].frames == Array(pictures.0[..<40] + pictures.1[40..<80] + pictures.0[80...]))
        #expect(found.streams[1].frames == highs.streams[1].frames)
    }

    @Test("is spliced by one packet per stream after the tables, and is otherwise unchanged")
    func insertsDiscontinuityPackets() throws {
        let bytes = try Fixture.bytes("ts/180p/3.ts")
        let own = try TransportStream(ByteSource(bytes))
        let splice = own.splice()
        let joined = splice.joined(with: bytes)
        #expect(joined.count == splice.count && splice.count == bytes.count + 2 * 188)
        #expect(splice.pieces.count == 2 && splice.pieces.last == .original(564..<bytes.count))
        #expect(Array(joined[..<564] + joined[940...]) == bytes)
        let source = try ByteSource(joined).bytes(0..<joined.count)
        for start in [564, 752] {
            let packet = try TransportPacket(source, at: start)
            #expect(packet.payload.isEmpty && joined[start + 5] == 0x80)
            let next = try stride(from: 940, to: joined.count, by: 188).map { try TransportPacket(source, at: $0) }
                .first { $0.pid == packet.pid }
            #expect(next?.counterBefore == packet.counterBefore)
        }
        let again = try TransportStream(ByteSource(joined))
        #expect(again.beginsWithTables && again.mismatch(inPlaceOf: own) == nil)
        #expect(Self.times(again) == Self.times(own))
    }

    @Test("cannot be substituted without tables, with other streams, or without a key frame at the start")
    func refusesSubstitution() throws {
        let bytes = try Fixture.bytes("ts/180p/3.ts")
        let own = try TransportStream(ByteSource(bytes))
        // ffmpeg writes SDT, PAT and PMT first, then the key frame, whose packets are many.
        let tables = Array(bytes[..<564])
        let late = Array(bytes[564..<752]) + tables + bytes[752...]
        #expect(try mismatch(late, own) == "it does not begin with PAT and PMT")
        let rest = try #require(try secondPicture(of: bytes))
        #expect(try mismatch(tables + bytes[rest...], own) == "it does not begin with a key frame")
        var other = own
        other = try TransportStream(ByteSource(renamed(bytes)))
        #expect(
            other.mismatch(inPlaceOf: own)
                == "it has other streams: 0x100 of type 0x24, 0x101 of type 0xf, "
                + "and 0x100 of type 0x1b, 0x101 of type 0xf there")
    }

    private func mismatch(_ bytes: [UInt8], _ other: TransportStream) throws -> String? {
        try TransportStream(ByteSource(bytes)).mismatch(inPlaceOf: other)
    }

    /// File offset of the video's second picture.
    private func secondPicture(of bytes: [UInt8]) throws -> Int? {
        let source = try ByteSource(bytes).bytes(0..<bytes.count)
        let starts = try stride(from: 0, to: bytes.count, by: 188).filter {
            let packet = try TransportPacket(source, at: $0)
            return packet.pid == 0x100 && packet.beginsUnit
        }
        return starts.dropFirst().first
    }

    /// Returns the bytes with the video declared as HEVC in the PMT, with a new checksum.
    private func renamed(_ bytes: [UInt8]) throws -> [UInt8] {
        var bytes = bytes
        let map = 2 * 188 + 5
        let length = 3 + (Int(bytes[map + 1] & 0x0F) << 8 | Int(bytes[map + 2]))
        bytes[map + 12] = 0x24
        var value: UInt32 = 0xFFFF_FFFF
        for byte in bytes[map..<(map + length - 4)] {
            value ^= UInt32(byte) << 24
            for _ in 0..<8 {
                value = value & 0x8000_0000 == 0 ? value << 1 : value << 1 ^ 0x04C1_1DB7
            }
        }
        bytes.replaceSubrange((map + length - 4)..<(map + length), with: number(value))
        return bytes
    }

    @Test("with damage is refused, with the offset")
    func refusesDamage() throws {
        let bytes = try Fixture.bytes("ts/180p/3.ts")
        func error(_ change: (inout [UInt8]) -> Void) throws -> String {
            var changed = bytes
            change(&changed)
            return try #require(throws: SegmentFormatError.self) { try TransportStream(ByteSource(changed)) }
                .description
        }
        #expect(try error { $0[188] = 0x48 } == "byte 188: no packet of a transport stream begins here")
        #expect(try error { $0 = [0x47] } == "1 bytes are no packet of a transport stream")
        #expect(try error { $0 = Array($0[..<188]) } == "PAT: there is none in the segment")
        #expect(try error { $0 = Array($0[..<376]) } == "PMT: there is none in the segment")
        #expect(try error { $0[188 + 14] ^= 1 } == "PAT at byte 192: its checksum does not fit")
        #expect(
            try error {
                $0[3] |= 0x20
                $0[4] = 184
            } == "byte 4: an adaptation field is longer than its packet")
        for index in 0..<(8 * 188) {
            var changed = bytes
            for value in [0, 0x7F, 0xFF] as [UInt8] {
                changed[index] = value
                _ = try? TransportStream(ByteSource(changed))
            }
        }
    }

    @Test("of HEVC begins at a key frame", arguments: [true, false])
    func findsHEVCKeyFrame(isWithinGroup: Bool) async throws {
        let bytes = try await EncodedTransport.hevc()
        let whole = try TransportStream(ByteSource(bytes))
        #expect(whole.streams.first?.type == 0x24 && whole.streams.first?.beginsAtKeyFrame == true)
        guard isWithinGroup else { return }
        let rest = try #require(try secondPicture(of: bytes))
        let cut = try TransportStream(ByteSource(Array(bytes[..<564]) + bytes[rest...]))
        #expect(cut.streams.first?.beginsAtKeyFrame == false)
    }

    /// Pictures that follow a CRA picture reference earlier ones, although `random_access_indicator` is set.
    @Test("of HEVC does not begin at a key frame with an open group of pictures")
    func rejectsOpenGroupOfPictures() async throws {
        var bytes = try await EncodedTransport.hevc()
        // An IDR picture's first slice becomes a CRA picture's (H.265 table 7-1).
        let head = try #require(
            bytes.indices.dropFirst(3).first { place in
                bytes[(place - 3)..<place].elementsEqual([0, 0, 1]) && [19 << 1, 20 << 1].contains(bytes[place])
            })
        bytes[head] = 21 << 1
        #expect(try TransportStream(ByteSource(bytes)).streams.first?.beginsAtKeyFrame == false)
    }
}
