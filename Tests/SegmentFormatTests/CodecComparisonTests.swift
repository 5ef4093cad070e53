import Foundation
import TestSupport
import Testing

@testable import SegmentFormat

/// Two encodings are told apart by their first bytes.
@Suite struct CodecComparisonTests {
    private func beginning(_ path: String) throws -> [UInt8] {
        Array(try Repository.fixture(path).prefix(CodecComparison.length))
    }

    @Test(
        arguments: [
            ("/ts/90p/0.ts", "/ts/90p/3.ts", .same), ("/ts/90p/0.ts", "/ts/180p/0.ts", .different),
            ("/ts/180p/2.ts", "/ts/270p/2.ts", .different), ("/ts/90p/0.ts", "/aes/90p/0.ts", .unknown),
            ("/cmaf/video-90p/init.mp4", "/cmaf/video-90p/init.mp4", .same),
            ("/cmaf/video-90p/init.mp4", "/cmaf/video-180p/init.mp4", .different),
            ("/ts/90p/0.ts", "/cmaf/video-90p/init.mp4", .unknown),
        ] as [(String, String, CodecComparison.Decoders)])
    func encodingsOfOneFilmAreToldApart(one: String, other: String, expected: CodecComparison.Decoders) throws {
        #expect(try CodecComparison.decoders(of: beginning(one), and: beginning(other)) == expected)
    }

    @Test(
        arguments: [
            ("/ts/90p/0.ts", .withVideo), ("/cmaf/video-90p/init.mp4", .withVideo),
            ("/cmaf/audio-en/init.mp4", .withoutVideo),
            ("/audio/low/0.aac", .withoutVideo), ("/aes/90p/0.ts", .unknown), ("/cmaf/video-90p/0.m4s", .unknown),
        ] as [(String, CodecComparison.Streams)])
    func videoIsFoundInTheFirstBytes(path: String, expected: CodecComparison.Streams) throws {
        #expect(try CodecComparison.streams(in: beginning(path)) == expected)
    }

    @Test func whatIsNoMediaAgreesWithNothing() throws {
        let media = try beginning("/ts/90p/0.ts")
        for bytes in [[], [0x47], [UInt8](repeating: 0x47, count: 376), Array(media.prefix(188))] {
            #expect(CodecComparison.decoders(of: media, and: bytes) != .same)
            #expect(CodecComparison.streams(in: bytes) == .unknown)
        }
    }
}
