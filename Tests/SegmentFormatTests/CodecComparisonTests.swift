import Foundation
import TestSupport
import Testing

@testable import SegmentFormat

/// Two encodings are told apart by their first bytes.
@Suite struct CodecComparisonTests {
    private func beginning(_ path: String) throws -> [UInt8] {
        Array(try Repository.fixture(path).prefix(CodecComparison.length))
    }

    @Test(arguments: [
        ("/ts/90p/0.ts", "/ts/90p/3.ts", true), ("/ts/90p/0.ts", "/ts/180p/0.ts", false),
        ("/ts/180p/2.ts", "/ts/270p/2.ts", false), ("/ts/90p/0.ts", "/aes/90p/0.ts", nil),
        ("/cmaf/video-90p/init.mp4", "/cmaf/video-90p/init.mp4", true),
        ("/cmaf/video-90p/init.mp4", "/cmaf/video-180p/init.mp4", false),
        ("/ts/90p/0.ts", "/cmaf/video-90p/init.mp4", nil),
    ])
    func encodingsOfOneFilmAreToldApart(one: String, other: String, expected: Bool?) throws {
        #expect(try CodecComparison.agree(beginning(one), beginning(other)) == expected)
    }

    @Test(arguments: [
        ("/ts/90p/0.ts", true), ("/cmaf/video-90p/init.mp4", true), ("/cmaf/audio-en/init.mp4", false),
        ("/audio/low/0.aac", false), ("/aes/90p/0.ts", nil), ("/cmaf/video-90p/0.m4s", nil),
    ])
    func videoIsFoundInTheFirstBytes(path: String, expected: Bool?) throws {
        #expect(try CodecComparison.hasVideo(beginning(path)) == expected)
    }

    @Test func whatIsNoMediaAgreesWithNothing() throws {
        let media = try beginning("/ts/90p/0.ts")
        for bytes in [[], [0x47], [UInt8](repeating: 0x47, count: 376), Array(media.prefix(188))] {
            #expect(CodecComparison.agree(media, bytes) != true)
            #expect(CodecComparison.hasVideo(bytes) == nil)
        }
    }
}
