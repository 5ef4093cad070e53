import Foundation
import TestSupport
import Testing

@testable import Fetching

@Suite struct MediaExtentTests {
    private func isCut(_ bytes: some Collection<UInt8>, isInBlocks: Bool = false, isVouched: Bool = false) -> Bool {
        let bytes = Array(bytes)
        return MediaExtent(length: Int64(bytes.count), isInBlocks: isInBlocks, isVouched: isVouched) { offset, count in
            Array(bytes.dropFirst(Int(offset)).prefix(count))
        }.isCut
    }

    @Test(arguments: ["/ts/90p/0.ts", "/cmaf/video-90p/init.mp4", "/cmaf/video-90p/0.m4s", "/cmaf/audio-en/0.m4s"])
    func whatFixturesHaveIsWholeAndEveryBeginningOfItIsCut(_ path: String) throws {
        let file = try Array(Repository.fixture(path))
        #expect(!isCut(file) && !isCut(file, isVouched: true))
        let packet = path.hasSuffix(".ts") ? 188 : Int.max
        // Boxes may end where a beginning does; packets do so for certain.
        var whole: [Int] = []
        for length in 8..<min(file.count, 3000) where !isCut(file.prefix(length)) {
            whole.append(length)
        }
        #expect(packet == .max ? whole.count < 8 : whole.allSatisfy { $0 % packet == 0 }, "\(whole)")
        #expect(isCut(file.dropLast(3), isVouched: true) == (packet == .max))
    }

    @Test func onlyOneFragmentProvesAnEnd() throws {
        func end(_ bytes: [UInt8]) -> MediaExtent.End {
            MediaExtent(length: Int64(bytes.count), isInBlocks: false, isVouched: false) { offset, count in
                Array(bytes.dropFirst(Int(offset)).prefix(count))
            }.end
        }
        let segment = try Array(Repository.fixture("/cmaf/video-90p/0.m4s"))
        #expect(
            end(segment) == .proven && end(segment + segment) == .recognised && end(Array(segment.dropLast())) == .cut)
        #expect(end(try Array(Repository.fixture("/cmaf/video-90p/init.mp4"))) == .recognised)
        let stream = try Array(Repository.fixture("/ts/90p/0.ts"))
        #expect(
            end(stream) == .recognised && end(Array(stream.dropLast(188))) == .recognised
                && end(Array(stream.dropLast())) == .cut)
        #expect(end(Array("WEBVTT\n".utf8)) == .unknown && end([]) == .unknown)
    }

    @Test func ciphertextEndsWithABlock() throws {
        let file = try Array(Repository.fixture("/aes/90p/0.ts"))
        #expect(!isCut(file, isInBlocks: true) && isCut(file.dropLast(), isInBlocks: true, isVouched: true))
        #expect(!isCut(file.dropLast(16), isInBlocks: true))
    }

    @Test(arguments: [
        [], Array("WEBVTT\n\n00:00.000 --> 00:01.000\nHello".utf8), [0xFF, 0xF1, 0x50, 0x80, 1, 2, 3, 4, 5],
        // To the end; smaller than its own head; none that begins a segment.
        [0, 0, 0, 0] + Array("moof....".utf8), [0, 0, 0, 7] + Array("moof....".utf8),
        [0, 0, 1, 0] + Array("what....".utf8),
        // A large size.
        [0, 0, 0, 1] + Array("mdat".utf8) + [0, 0, 0, 0, 0, 0, 0, 17, 9],
    ])
    func undeterminedLengthsCountAsComplete(_ bytes: [UInt8]) {
        #expect(!isCut(bytes) && !isCut(bytes, isVouched: true))
    }

    @Test(arguments: [
        [0, 0, 0, 9] + Array("moof".utf8), [0, 0, 0, 8] + Array("styp".utf8) + [0, 0, 0],
        [0, 0, 0, 1] + Array("moof".utf8) + [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
    ])
    func aBoxThatGoesOnBeyondTheEndIsCut(_ bytes: [UInt8]) { #expect(isCut(bytes, isVouched: true)) }

    @Test(arguments: ["ftyp", "styp", "moof"])
    func aBoxWithoutTheMediaThatItAnnouncesIsCut(_ type: String) {
        #expect(isCut([0, 0, 0, 8] + Array(type.utf8), isVouched: true))
    }

    /// The packets' size, the bytes before the first one, and those before and behind each.
    @Test(arguments: [
        (188, 0, 0, 0), (188, 100, 0, 0), (192, 0, 4, 0), (192, 7, 4, 0), (204, 0, 0, 16), (204, 3000, 0, 16),
    ])
    func packetsAreFoundWhereverTheyBegin(_ size: Int, _ lead: Int, _ before: Int, _ behind: Int) throws {
        let stream = Array(try Repository.fixture("/ts/90p/0.ts").prefix(188 * 60))
        var packets: [UInt8] = []
        for start in stride(from: 0, to: stream.count, by: 188) {
            packets += [UInt8](repeating: 1, count: before)
            packets += stream[start..<(start + 188)]
            packets += [UInt8](repeating: 2, count: behind)
        }
        let body = [UInt8](repeating: 0xAA, count: lead) + packets
        #expect(!isCut(body))
        for missing in [1, 4, 16, 187, size - 1] {
            #expect(isCut(body.dropLast(missing)) && !isCut(body.dropLast(missing), isVouched: true), "\(missing)")
        }
        #expect(!isCut(body.dropLast(size)))
    }

    /// Rule: what the first bytes show is not looked for in all of them. Input: a stream that begins inside a packet.
    /// Expected: its end is found, and no more than the first bytes are read.
    @Test func packetsBehindAPartOfOneAreFoundInTheFirstBytes() throws {
        let bytes = Array(try Repository.fixture("/ts/90p/0.ts").dropFirst(132))
        var most = 0
        let extent = MediaExtent(length: Int64(bytes.count), isInBlocks: false, isVouched: false) { offset, count in
            most = max(most, count)
            return Array(bytes.dropFirst(Int(offset)).prefix(count))
        }
        #expect(extent.end == .recognised)
        #expect(most == 1024)
    }

    @Test func soundIsCutInsideAFrame() throws {
        let sound = Array(try Repository.fixture("/audio/high/0.aac"))
        #expect(!isCut(sound))
        for missing in [1, 2, 5, 20] {
            #expect(isCut(sound.dropLast(missing)) && !isCut(sound.dropLast(missing), isVouched: true))
        }
        // A tag behind the frames, or anything else, shows nothing.
        #expect(!isCut(sound + Array("TAG and more".utf8)))
    }

    @Test(arguments: [
        ("1\n00:00.000 --> 00:01.000\nHello", false), ("1\n00:00.000 --> 00:01.000\nHello\n", false),
        ("00:00.000 --> 00:01.000\n00:00.000 --> 00:01.000", true), ("x\n\n00:00.0", true),
        ("12", false), ("at 10:30", false), ("00:01.000 --> 00:02.000 line:0", true),
    ])
    func cuesAreCutInTheirTimes(_ cues: String, _ expected: Bool) {
        let text = Array("WEBVTT\n\n\(cues)".utf8)
        #expect(isCut(text) == expected && !isCut(text, isVouched: true))
    }

    @Test func cuesAreCutInsideACharacter() {
        let text = Array("WEBVTT\n\n00:00.000 --> 00:01.000\nÄ€😀".utf8)
        #expect((0..<9).map { isCut(text.dropLast($0)) } == [false, true, true, true, false, true, true, false, true])
    }
}
