import TestSupport
import Testing

@testable import SegmentFormat

@Suite("Packed audio")
struct PackedAudioTests {
    private static let owner = Array("com.apple.streaming.transportStreamTimestamp".utf8) + [0]
    /// A 16-byte frame of AAC-LC at 48 kHz in mono. Only its header is parsed.
    private static let frame: [UInt8] = [0xFF, 0xF1, 0x4C, 0x40, 0x02, 0x1F, 0xFC] + [UInt8](repeating: 0, count: 9)

    private func read(_ bytes: [UInt8]) throws -> PackedAudio { try PackedAudio(ByteSource(bytes)) }

    /// An ID3 tag with some frames.
    private func tag(_ frames: [UInt8], version: UInt8 = 4, flags: UInt8 = 0) -> [UInt8] {
        let count = frames.count
        return Array("ID3".utf8) + [version, 0, flags, 0, 0, UInt8(count >> 7), UInt8(count & 0x7F)] + frames
    }

    /// A frame of an ID3 tag.
    private func frame(_ name: String, _ content: [UInt8], isSynchsafe: Bool = true) -> [UInt8] {
        let count = content.count
        let shift = isSynchsafe ? 7 : 8
        let low = UInt8(count & (1 << shift - 1))
        return Array(name.utf8) + [0, 0, UInt8(count >> shift), low, 0, 0] + content
    }

    /// The frame with the timestamp of the first sample.
    private func timestamp(_ bytes: [UInt8]) -> [UInt8] { frame("PRIV", Self.owner + bytes) }

    @Test("has a first time and a frame format", arguments: ["low", "high"])
    func readsFixtures(quality: String) throws {
        for number in 0..<6 {
            let audio = try read(try Fixture.bytes("audio/\(quality)/\(number).aac"))
            #expect(audio.firstTime == UInt64(number * 94 * 1024) * 90_000 / 48_000)
            #expect("\(audio.frames)" == "MPEG-4 AAC of object type 2 at 48000 Hz in channel configuration 1")
        }
    }

    @Test("can be substituted only if all fields that configure a decoder are equal")
    func comparesDecoderFields() throws {
        let bytes = try Fixture.bytes("audio/low/3.aac")
        let own = try read(bytes)
        let other = try read(try Fixture.bytes("audio/high/3.aac"))
        #expect(own.mismatch(inPlaceOf: other) == nil && own.firstTime == other.firstTime)
        let start = 73
        try #require(bytes[start] == 0xFF)
        for (place, bit) in [(1, 0x08), (2, 0x40), (2, 0x04), (3, 0x80)] as [(Int, UInt8)] {
            var changed = bytes
            changed[start + place] ^= bit
            let reason = try #require(try read(changed).mismatch(inPlaceOf: other))
            #expect(reason.hasSuffix("and \(other.frames) there"))
        }
        // The private bit and the checksum flag do not configure a decoder.
        for (place, bit) in [(1, 0x01), (2, 0x02)] as [(Int, UInt8)] {
            var changed = bytes
            changed[start + place] ^= bit
            #expect(try read(changed).mismatch(inPlaceOf: other) == nil)
        }
    }

    @Test("takes its time from the first timestamp in any tag, of versions 2.3 and 2.4")
    func readsFirstTimestamp() throws {
        let time: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 2]
        let due: UInt64 = 1 << 32 + 2
        let title = frame("TIT2", [3] + Array("a song".utf8))
        let tags = [
            tag(title + timestamp(time)),
            tag(timestamp(time) + [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            tag(title) + tag(timestamp(time)) + tag(timestamp([0, 0, 0, 0, 0, 0, 0, 9])),
            tag(frame("PRIV", [1, 2, 3]) + timestamp(time)),
            tag(timestamp(time), flags: 0x10) + Array("3DI".utf8) + [4, 0, 0x10, 0, 0, 0, 63],
            tag(frame("PRIV", [UInt8](repeating: 7, count: 200), isSynchsafe: false) + timestamp(time), version: 3),
        ]
        for tag in tags {
            #expect(try read(tag + Self.frame).firstTime == due)
        }
        // A clock of 33 bits.
        #expect(try read(tag(timestamp([0xFF, 0, 0, 0, 0, 0, 0, 5])) + Self.frame).firstTime == 5)
    }

    @Test("without a timestamp or without AAC is refused, with the reason")
    func refusesBadAudio() throws {
        let dated = tag(timestamp([UInt8](repeating: 0, count: 8)))
        func refusal(_ bytes: [UInt8]) -> String? {
            do {
                _ = try read(bytes)
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(refusal(dated + Self.frame) == nil)
        let cases: [([UInt8], String)] = [
            (Self.frame, "ID3 at byte 0: no tag has the timestamp of the first sample"),
            (tag(frame("TIT2", [3])) + Self.frame, "ID3 at byte 0: no tag has the timestamp of the first sample"),
            (dated, "ADTS at byte 73: there is no frame"),
            (dated + [0xFF, 0xFB, 0x90, 0x64, 0, 0, 0, 0], "ADTS at byte 73: it is not an AAC frame"),
            (dated + [0xFF, 0xF1, 0x74, 0x40, 2, 0x1F, 0xFC], "ADTS at byte 73: its sampling rate index is reserved"),
            (dated + [0xFF, 0xF1, 0x4C, 0, 2, 0x1F, 0xFC], "ADTS at byte 73: its channel layout is inside the frame"),
            (dated + Self.frame.dropLast(), "ADTS at byte 73: its length is 16"),
            (dated + [0xFF, 0xF1, 0x4C, 0x40, 0, 0x1F, 0xFC], "ADTS at byte 73: its length is 0"),
            (tag(timestamp([1]), version: 4) + Self.frame, "ID3 at byte 10: its timestamp is not of 8 bytes"),
            (tag([], version: 2) + Self.frame, "ID3 at byte 0: version 2.2 with the flags 0 is not read"),
            (tag([], flags: 0x80) + Self.frame, "ID3 at byte 0: version 2.4 with the flags 128 is not read"),
            (Array(tag([]).dropLast()) + [0x80] + Self.frame, "ID3 at byte 0: its size is not synchsafe"),
            (Array(dated.dropLast()), "ID3 at byte 0: its size is 63"),
        ]
        for (bytes, reason) in cases {
            #expect(refusal(bytes) == reason)
        }
        let many = Array(repeating: tag([]), count: SegmentFormatLimits.tags + 1).joined()
        #expect(refusal(Array(many) + dated + Self.frame)?.contains("more than") == true)
    }

    @Test("truncated or changed anywhere before its media never traps")
    func survivesUntrustedBytes() throws {
        let bytes = Array(try Fixture.bytes("audio/low/1.aac").prefix(600))
        _ = try read(bytes)
        for count in 0..<80 {
            #expect(throws: SegmentFormatError.self) { try read(Array(bytes[..<count])) }
        }
        for index in 0..<80 {
            for value in [0, 1, 0x7F, 0xFF] as [UInt8] {
                var changed = bytes
                changed[index] = value
                guard let audio = try? read(changed) else { continue }
                #expect(audio.firstTime < 1 << 33)
            }
        }
    }

    /// AAC decoder output depends on all earlier frames, so the encoded frames are compared.
    @Test("keeps its own frames when substituted, and decodes without errors")
    func decodesSubstitutedFrames() async throws {
        func segments(_ quality: String) throws -> [[UInt8]] {
            try (0..<6).map { try Fixture.bytes("audio/\(quality)/\($0).aac") }
        }
        func frames(_ segments: [[UInt8]]) async throws -> [FrameHashes.Frame] {
            let playlist = try Playlist(initialization: nil, segments: segments, seconds: 2, suffix: "aac")
            let decoded = try await playlist.frames()
            #expect(decoded.errors == "" && decoded.streams.map(\.frames.count) == [6 * 94])
            let found = try await FrameHashes.of(playlist.path, outputOptions: ["-c", "copy"])
            return found.streams[0].frames
        }
        let high = try segments("high")
        let low = try segments("low")
        let highs = try await frames(high)
        let lows = try await frames(low)
        let mixed = try await frames(Array(high[..<3] + low[3...]))
        let cut = 3 * 94
        #expect(highs[cut...] != lows[cut...])
        let isMixed = mixed == Array(highs[..<cut] + lows[cut...])
        #expect(isMixed)
    }
}
