import AccessLog
import EventLoop
import Foundation
import Orders
import SegmentFormat
import Sessions
import Substitution
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Playback

/// Substitution of another rendition's pieces.
@Suite @LoopActor struct CompositeTests {
    // MARK: Transport streams

    @Test func aHoleIsFilledWithAnotherRenditionsExactBytes() async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.play("ts", [("video-180p", [0, 1, 2, 3, 4, 5]), ("video-270p", [0, 1])])
        try await fixture.origin.clearRequests()
        #expect(try await fixture.listed("/offline/ts.m3u8") == ["video-180p", "video-270p"])
        let paths = try await fixture.paths("/offline/ts.m3u8", "video-270p")
        #expect(paths.count == 6)
        // Holes will be filled, so the own pieces are spliced from the first one on.
        let own = try await fixture.get(paths[1])
        #expect([UInt8](own.body) == (try Spliced.transport("ts/270p/1.ts")))
        #expect(own["cache-status"] == "Weir; hit" && own["etag"]?.hasSuffix("-joined\"") == true)
        for place in 2..<6 {
            let answer = try await fixture.get(paths[place])
            #expect(try answer.status == 200 && [UInt8](answer.body) == Spliced.transport("ts/180p/\(place).ts"))
            #expect(answer["cache-status"] == "Weir; hit; detail=\"video-180p stands in\"")
            #expect(answer["cache-control"] == "no-store")
            #expect(answer["etag"]?.contains("video-180p") == true)
        }
        let again = try await fixture.get(paths[1])
        #expect(again.body == own.body && again["etag"] == own["etag"])
        #expect(try await fixture.origin.requests().isEmpty)
    }

    @Test func byteRangesOfASubstituteAreServed() async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.play("ts", [("video-180p", [0, 1, 2, 3, 4, 5]), ("video-270p", [0, 1])])
        let path = try await fixture.paths("/offline/ts.m3u8", "video-270p")[3]
        let whole = try Spliced.transport("ts/180p/3.ts")
        let head = try await fixture.get(path, method: "HEAD")
        #expect(head.status == 200 && head["content-length"] == "\(whole.count)")
        let all = try await fixture.get(path, ["Range": "bytes=0-"])
        #expect(all.status == 206 && [UInt8](all.body) == whole)
        for range in [300..<900, 560..<600, (whole.count - 10)..<whole.count] {
            let fields = ["Range": "bytes=\(range.lowerBound)-\(range.upperBound - 1)", "If-Range": all["etag"] ?? ""]
            let part = try await fixture.get(path, fields)
            #expect(part.status == 206 && [UInt8](part.body) == Array(whole[range]))
        }
        #expect(try await fixture.get(path, ["If-None-Match": all["etag"] ?? ""]).status == 304)
    }

    @Test func aPartialVariantWorseThanACompleteOneIsNotListed() async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.play("ts", [("video-180p", [0]), ("video-270p", [0, 1, 2, 3, 4, 5])])
        #expect(try await fixture.listed("/offline/ts.m3u8") == ["video-270p"])
        #expect(try await fixture.listed("/ts.m3u8") == ["video-270p"])
    }

    @Test func anOnlineNameListsCompleteVariantsOnly() async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.play("ts", [("video-180p", [0, 1, 2, 3, 4, 5]), ("video-270p", [0, 1])])
        #expect(try await fixture.listed("/ts.m3u8") == ["video-180p"])
        try await fixture.stopOrigin()
        fixture.library.asset(named: "ts")?.entryChecks.latest = nil
        #expect(try await fixture.listed(fixture.typed("/ts/master.m3u8")) == ["video-180p", "video-270p"])
    }

    @Test func twoPartialVariantsMakeOneCompleteVariant() async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.play("ts", [("video-180p", [2, 3, 4, 5]), ("video-270p", [0, 1, 2])])
        try await fixture.stopOrigin()
        fixture.library.asset(named: "ts")?.entryChecks.latest = nil
        let entry = try await fixture.entry("/ts.m3u8")
        // The playlist has no cuts, so the session may continue online when the origin is back.
        #expect(entry.count == 1 && entry[0].contains("/video-270p/") && entry[0].split(separator: "/")[2].first == "a")
        let paths = try await fixture.paths("/offline/ts.m3u8", "video-270p")
        let sources = ["270p", "270p", "270p", "180p", "180p", "180p"]
        for (place, source) in sources.enumerated() {
            let body = [UInt8](try await fixture.get(paths[place]).body)
            #expect(try body == Spliced.transport("ts/\(source)/\(place).ts"))
        }
    }

    @Test func timeThatNoVariantCoversIsCut() async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.play("ts", [("video-180p", [0, 2]), ("video-270p", [0, 1, 5])])
        let list = try await fixture.entry("/offline/ts.m3u8")[0]
        let text = try await fixture.get(list).text
        let paths = PlaylistText.paths(in: text, at: list)
        let files = paths.compactMap { $0.split(separator: "/").last }
        #expect(files == ["0.ts", "1.ts", "2.ts", "5.ts"])
        #expect(text.contains("2.ts\n#EXT-X-DISCONTINUITY\n"))
        for path in paths {
            #expect(try await fixture.get(path).status == 200)
        }
    }

    // MARK: Fragmented MP4

    @Test func parameterSetsAreInBandWithASubstitute() async throws {
        let fixture = try await TestHouse(.playback())
        let sound = [0, 1, 2, 3, 4, 5, 6]
        try await fixture.play(
            "cmaf",
            [("audio-en", sound), ("video-180p", Array(0..<12)), ("video-270p", [0, 1, 2, 7, 8])])
        #expect(try await fixture.listed("/offline/cmaf.m3u8") == ["audio-en", "video-180p", "video-270p"])
        let paths = try await fixture.paths("/offline/cmaf.m3u8", "video-270p")
        #expect(paths.count == 13)
        #expect([UInt8](try await fixture.get(paths[0]).body) == (try Spliced.bytes("cmaf/video-270p/init.mp4")))
        for place in [0, 3, 7, 2, 0] {
            let source = place == 3 ? "video-180p" : "video-270p"
            let body = [UInt8](try await fixture.get(paths[1 + place]).body)
            #expect(body == (try Spliced.fragment("cmaf", place, of: source, behind: "video-270p")), "\(place)")
        }
    }

    /// Parameter sets of a section are put into the segments that are sent.
    @Test(
        "S31: nothing of a section that another program has changed is sent", arguments: ["video-180p", "video-270p"])
    func aChangedSectionIsNotSpliced(_ id: String) async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.play("cmaf", [("video-180p", Array(0..<12)), ("video-270p", [0, 1, 2, 7, 8])])
        await fixture.flush()
        let asset = try #require(fixture.library.asset(named: "cmaf"))
        let section = fixture.folder.path("assets/\(asset.id)/\(id)/init-0.mp4")
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: section)))
        let configuration = try #require(bytes.firstRange(of: Array("avcC".utf8))).upperBound
        // In the sequence parameter set, which can still be read.
        try FileDamage.flipBit(of: section, at: configuration + 13)
        try await fixture.restart()
        fixture.library.mode = .offline

        for number in [3, 0] {
            let source = number == 3 ? "video-180p" : "video-270p"
            let answer = try await fixture.get("/a/\(asset.id)/oabcde/video-270p/\(number).m4s")
            let spliced = try Spliced.fragment("cmaf", number, of: source, behind: "video-270p")
            let plain = try Spliced.bytes("cmaf/\(source)/\(number).m4s")
            let isSound = [spliced, plain].contains([UInt8](answer.body))
            #expect(answer.status == 404 || isSound, "\(number): \(answer.status)")
        }
        #expect(!fixture.folder.files().contains { $0.hasSuffix("\(id)/init-0.mp4") }, "it is set aside")
    }

    @Test func anEarlierProcessesSessionGetsOnlySplicedSegments() async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.play("cmaf", [("video-180p", Array(0..<12)), ("video-270p", [0, 1])])
        let asset = try #require(fixture.library.asset(named: "cmaf"))
        let old = try await fixture.get("/a/\(asset.id)/oabcde/video-270p/1.m4s")
        #expect([UInt8](old.body) == (try Spliced.fragment("cmaf", 1, of: "video-270p", behind: "video-270p")))
    }

    @Test func segmentsOfOtherStartTimesAreNotSubstituted() async throws {
        let fixture = try await TestHouse(.playback())
        // The smallest variant begins two frames before the others.
        try await fixture.play(
            "cmaf", [("audio-en", Array(0..<7)), ("video-90p", Array(0..<12)), ("video-270p", [0, 1, 2])])
        let asset = try #require(fixture.library.asset(named: "cmaf"))
        #expect(try await fixture.get("/a/\(asset.id)/oabcde/video-270p/5.m4s").status == 404)
        let rendition = try #require(asset.rendition("video-270p"))
        let substitutes = try #require(fixture.substitutions.substitutes(of: rendition, in: asset))
        #expect(substitutes.refusals.map(\.rendition) == ["video-90p"])
        #expect(substitutes.refusals.first?.reason == "its segments do not begin and end when these do")
        #expect(try await fixture.listed("/offline/cmaf.m3u8") == ["audio-en", "video-90p"])
    }

    @Test func invalidMediaIsNeitherSubstitutedNorSpliced() async throws {
        let fixture = try await TestHouse(.playback())
        // It has packets, so that it is stored, and nothing in them.
        let noise = String(repeating: "47" + String(repeating: "90", count: 187), count: 20)
        for path in ["/ts/180p/4.ts", "/ts/270p/1.ts"] {
            try await fixture.origin.add(OriginRule(path) { ($0.status, $0.bodyHex) = (200, noise) })
        }
        try await fixture.play("ts", [("video-180p", [2, 3, 4, 5]), ("video-270p", [0, 1])])
        let paths = try await fixture.media("/offline/ts.m3u8")
        #expect(paths.compactMap { $0.split(separator: "/").last } == ["0.ts", "1.ts", "2.ts", "3.ts", "5.ts"])
        for path in paths {
            #expect(try await fixture.get(path).status == 200)
        }
        // The bad piece is still served unchanged.
        #expect([UInt8](try await fixture.get(paths[1]).body) == Self.bytes(noise))
        try await waitUntil("a note") {
            let events = await fixture.playback.sessions.errorEvents(LogQuery())
            return events.contains { $0.comment.contains("cannot be joined") }
        }
    }

    private static func bytes(_ digits: String) -> [UInt8] {
        let values = digits.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }

    // MARK: Packed audio

    @Test func packedAudioIsSubstitutedUnchanged() async throws {
        let fixture = try await TestHouse(.playback())
        let parts = [(id: "audio", places: [0, 1, 2, 3, 4, 5]), (id: "audio-2", places: [0, 1])]
        try await fixture.play("audio", parts)
        #expect(try await fixture.listed("/offline/audio.m3u8") == ["audio", "audio-2"])
        let paths = try await fixture.paths("/offline/audio.m3u8", "audio-2")
        for place in [0, 1, 2, 5, 1] {
            let answer = try await fixture.get(paths[place])
            let source = place < 2 ? "high" : "low"
            #expect([UInt8](answer.body) == (try Spliced.bytes("audio/\(source)/\(place).aac")))
            #expect(answer["cache-status"]?.contains("audio stands in") == (place >= 2))
        }
    }

    @Test func packedAudioOfAnotherKindOrTimeIsNotSubstituted() async throws {
        for (place, bit) in [(75, 0x04), (71, 0x10)] as [(Int, UInt8)] {
            let fixture = try await TestHouse(.playback())
            for number in 0..<6 {
                var bytes = try Spliced.bytes("audio/low/\(number).aac")
                bytes[place] ^= bit
                let hex = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                try await fixture.origin.add(
                    OriginRule("/audio/low/\(number).aac") { ($0.status, $0.bodyHex) = (200, hex) })
            }
            let parts = [(id: "audio", places: [0, 1, 2, 3, 4, 5]), (id: "audio-2", places: [0, 1])]
            try await fixture.play("audio", parts)
            #expect(try await fixture.listed("/offline/audio.m3u8") == ["audio"])
        }
    }

    // MARK: Encryption

    /// Encrypted segments do not show if they begin together. In this fixture 180p begins later than 90p.
    @Test func encryptedSegmentsAreNotSubstitutedWithoutDates() async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.play("aes", [("video-90p", [0, 1, 2, 3, 4, 5]), ("video-180p", [0, 1])])
        #expect(try await fixture.listed("/offline/aes.m3u8") == ["video-90p"])
    }

    @Test func encryptedSegmentsAreSubstitutedWithEqualKeyAndVector() async throws {
        let fixture = try await TestHouse(.playback())
        for variant in ["90p", "180p"] {
            let text = String(decoding: try Spliced.bytes("aes/\(variant)/media.m3u8"), as: UTF8.self)
            let dated = text.replacing(
                "#EXTINF", with: "#EXT-X-PROGRAM-DATE-TIME:2026-11-21T20:00:00Z\n#EXTINF", maxReplacements: 1)
            try await fixture.origin.add(
                OriginRule("/aes/\(variant)/media.m3u8") { ($0.status, $0.body) = (200, dated) })
        }
        try await fixture.play("aes", [("video-90p", [0, 1, 2, 3, 4, 5]), ("video-180p", [0, 1])])
        #expect(try await fixture.listed("/offline/aes.m3u8") == ["video-90p", "video-180p"])
        let paths = try await fixture.paths("/offline/aes.m3u8", "video-180p").filter { $0.hasSuffix(".ts") }
        let answer = try await fixture.get(paths[3])
        #expect([UInt8](answer.body) == (try Spliced.bytes("aes/90p/3.ts")))
        #expect(answer["cache-status"]?.contains("video-90p stands in") == true)
        // Nothing is spliced here, so the remaining segments are sent unchanged.
        #expect([UInt8](try await fixture.get(paths[1]).body) == (try Spliced.bytes("aes/180p/1.ts")))
    }

    @Test func encryptedSegmentsAreNotSubstitutedWithAnotherKey() async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.play("aes-noiv", [("video-90p", [0, 1, 2, 3, 4, 5]), ("video-180p", [0, 1])])
        #expect(try await fixture.listed("/offline/aes-noiv.m3u8") == ["video-90p"])
    }
}
