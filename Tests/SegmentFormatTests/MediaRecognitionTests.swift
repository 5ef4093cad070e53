import Foundation
import TestSupport
import Testing

@testable import SegmentFormat

@Suite struct MediaRecognitionTests {
    private static let packet: [UInt8] = [0x47, 0x40, 0, 0x10] + [UInt8](repeating: 0xFF, count: 184)
    private static let noise = (0..<2000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 31) | 0x80 }

    @Test(arguments: [
        "/ts/90p/0.ts", "/cmaf/video-90p/init.mp4", "/cmaf/video-90p/0.m4s", "/cmaf/audio-en/0.m4s",
        "/byterange-ts/90p/all.ts",
    ])
    func recognisesTheFixtures(_ path: String) throws {
        let bytes = try Array(Repository.fixture(path))
        #expect(MediaRecognition.recognises(bytes, isWhole: true))
        #expect(MediaRecognition.recognises(bytes.prefix(1000), isWhole: false))
    }

    /// Whatever stands before them, and with the time that recorders put before each (192 bytes).
    @Test(arguments: [0, 1, 100, 187, 5000, 60_000])
    func findsPacketsBehindOtherBytes(_ distance: Int) {
        let before = [UInt8](repeating: 0, count: distance)
        let packets = [[UInt8]](repeating: Self.packet, count: 5)
        #expect(MediaRecognition.recognises(before + packets.joined(), isWhole: true))
        #expect(
            MediaRecognition.recognises(
                before + packets.map { packet -> [UInt8] in [0, 0, 1, 2] + packet }.joined(), isWhole: true))
        #expect(!MediaRecognition.recognises(before + packets[0] + Self.noise, isWhole: true))
    }

    @Test func findsPacketsWithParity() {
        let packet = Self.packet + [UInt8](repeating: 1, count: 16)
        #expect(MediaRecognition.recognises([[UInt8]](repeating: packet, count: 5).joined(), isWhole: true))
    }

    @Test func findsFramesOfAudioBehindARest() throws {
        let bytes = try Array(Repository.fixture("/audio/high/0.aac"))
        let start = try #require(bytes.firstRange(of: [0xFF, 0xF1]) ?? bytes.firstRange(of: [0xFF, 0xF9])).lowerBound
        #expect(MediaRecognition.recognises(Array(bytes[(start + 20)...]), isWhole: true))
        #expect(!MediaRecognition.recognises(Array(bytes[(start + 20)..<(start + 60)]), isWhole: true))
    }

    @Test func findsFewPacketsOnlyWhereTheyAreAll() {
        let two = Self.packet + Self.packet
        #expect(MediaRecognition.recognises(Self.packet, isWhole: true))
        #expect(MediaRecognition.recognises(two, isWhole: true))
        #expect(MediaRecognition.recognises(two + [0x47, 1], isWhole: true))
        #expect(!MediaRecognition.recognises(two + [0x46, 1], isWhole: true))
        #expect(!MediaRecognition.recognises(two, isWhole: false))
        #expect(!MediaRecognition.recognises([UInt8](two.prefix(100)), isWhole: true))
        #expect(!MediaRecognition.recognises(Self.packet, isWhole: true, isText: true))
    }

    private static let zeros60 = String(repeating: "00", count: 60)
    private static let media: [(String, String)] = [
        ("ADTS", "fff15080"),
        ("MPEG audio", "fffb9064"),
        ("AC-3", "0b770102"),
        ("AC-3 of the other order", "770b0102"),
        ("AC-4", "ac400000"),
        ("LATM", "56e00102"),
        ("ID3", "49443304"),
        ("DTS", "7ffe8001"), ("WAV", "52494646010203045741564566"), ("FLAC", "664c6143"),
        ("Ogg", "4f676753"),
        ("Matroska", "1a45dfa3"),
        ("program stream", "000001ba"),
        ("elementary stream", "0000000167"),
        ("moof", "000000086d6f6f66"),
        ("sidx", "0000000873696478"),
        ("styp", "0000000a737479700102"),
        ("mdat", "000000116d646174000000000000000000"),
        ("mdat of 64 bits", "000000016d646174"),
        ("WebVTT", "5745425654540a0a"),
        ("WebVTT with a mark", "efbbbf200d0a574542565454"),
        ("SubRip", "310d0a30303a30303a30312c303030202d2d3e2030303a30303a30322c3030300d0a41"),
        ("UTF-16 LE", "fffe570045004200560054005400"),
        ("UTF-16 BE", "feff005700450042005600540054"),
    ]
    private static let others: [(String, String)] = [
        ("nothing", ""),
        ("a byte", "47"),
        ("zeros", String(repeating: "00", count: 4000)),
        ("ones", String(repeating: "ff", count: 4000)),
        ("PNG", "89504e470d0a1a0a" + zeros60),
        ("GIF", "474946383961" + zeros60),
        ("JPEG", "ffd8ffe0" + zeros60),
        ("gzip", "1f8b0800" + zeros60),
        ("ZIP", "504b0304"),
        ("PDF", "255044462d312e37"),
        ("an unknown box", "00000010776861740000000000000000"),
        ("a box of seven bytes", "000000076d6f6f66"),
        ("reserved fields", "ffffffff"),
    ]

    @Test(arguments: media) func recognisesTheBeginning(of kind: String, _ digits: String) {
        #expect(MediaRecognition.recognises(bytes(digits), isWhole: false))
    }

    @Test(arguments: others) func recognisesNothingElse(_ kind: String, _ digits: String) {
        #expect(!MediaRecognition.recognises(bytes(digits), isWhole: true))
    }

    private func bytes(_ digits: String) -> [UInt8] {
        let digits = Array(digits.utf8)
        return stride(from: 0, to: digits.count, by: 2).compactMap { place in
            UInt8(String(decoding: digits[place..<(place + 2)], as: UTF8.self), radix: 16)
        }
    }

    @Test(arguments: [
        "Gone", "Gateway Timeout", "Access denied",
        "Go to the start page, please. " + String(repeating: "Good bye. ", count: 100),
        "OggS", "ID3 is text", "FLV\u{1}",
    ])
    func takesNoTextForMedia(_ text: String) {
        #expect(!MediaRecognition.recognises(Array(text.utf8), isWhole: true, isText: true))
    }

    @Test func recognisesPictures() {
        #expect(MediaRecognition.isPicture([0xFF, 0xD8, 0xFF, 0xE0]))
        #expect(MediaRecognition.isPicture([0x89, 0x50, 0x4E, 0x47, 0x0D]))
        #expect(MediaRecognition.isPicture(Array("RIFF\u{1}\u{2}\u{3}\u{4}WEBPVP8 ".utf8)))
        #expect(!MediaRecognition.isPicture(Array("RIFF\u{1}\u{2}\u{3}\u{4}WAVEfmt ".utf8)))
        #expect(!MediaRecognition.isPicture(zeros(20)))
    }
}
