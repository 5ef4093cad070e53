import AccessLog
import EventLoop
import Foundation
import Sessions
import TestRooms
import TestSupport
import Testing

@testable import Playback

/// Wrong segments in a playlist with pieces of several renditions.
@Suite @LoopActor struct BadPieceTests {
    /// A segment of a fixture, and the origin's response instead.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fixture: String
        /// The bytes of the origin's response, by rendition and segment number.
        let bytes: @Sendable (String, Int) throws -> [UInt8]

        static let all = [
            Case(testDescription: "fragmented MP4 for a transport stream", fixture: "ts") { rendition, number in
                try Spliced.bytes("cmaf/video-\(rendition)/\(number).m4s")
            },
            Case(testDescription: "a broken packet", fixture: "ts") { rendition, number in
                var bytes = try Spliced.bytes("ts/\(rendition)/\(number).ts")
                bytes[188] = 0x48
                return bytes
            },
            Case(testDescription: "a transport stream without a key frame first", fixture: "ts") { rendition, number in
                let bytes = try Spliced.bytes("ts/\(rendition)/\(number).ts")
                // After the SDT, PAT and PMT packets.
                let starts = stride(from: 564, to: bytes.count, by: 188).filter {
                    bytes[$0 + 1] == 0x41 && bytes[$0 + 2] == 0
                }
                return Array(bytes[..<564]) + bytes[starts[1]...]
            },
            Case(testDescription: "a transport stream for fragmented MP4", fixture: "cmaf") { rendition, number in
                try Spliced.bytes("ts/\(rendition)/\(number).ts")
            },
            Case(testDescription: "a box that is longer than the file", fixture: "cmaf") { rendition, number in
                var bytes = try Spliced.bytes("cmaf/video-\(rendition)/\(number).m4s")
                bytes[0] = 0x7F
                return bytes
            },
            Case(testDescription: "a fragment without a key frame first", fixture: "cmaf") { rendition, number in
                var bytes = try Spliced.bytes("cmaf/video-\(rendition)/\(number).m4s")
                var unit = try #require(bytes.firstRange(of: Array("mdat".utf8))).upperBound
                while bytes[unit + 4] & 0x1F != 5 {
                    unit += 4 + bytes[unit..<unit + 4].reduce(0) { $0 << 8 | Int($1) }
                }
                bytes[unit + 4] ^= 4
                return bytes
            },
        ]

        var isFragments: Bool { fixture == "cmaf" }

        func path(_ rendition: String, _ number: Int) -> String {
            isFragments ? "/cmaf/video-\(rendition)/\(number).m4s" : "/ts/\(rendition)/\(number).ts"
        }
    }

    /// Plays segments of a rendition, so that they are stored with their initialization sections and keys.
    private func store(_ fixture: TestHouse, _ example: Case, _ id: String, _ numbers: [Int]) async throws {
        let lists = try await fixture.entry(fixture.typed("/\(example.fixture)/master.m3u8"))
        let list = try #require(lists.first { $0.contains("/\(id)/") })
        for path in try await fixture.paths(at: list) {
            let name = try #require(path.split(separator: "/").last).prefix { $0 != "." }
            guard Int(name).map(numbers.contains) ?? true else { continue }
            #expect(try await fixture.get(path).status == 200)
        }
    }

    @Test(arguments: Case.all)
    func badMediaIsNeverSplicedAndIsLogged(example: Case) async throws {
        let fixture = try await TestHouse(.playback())
        let foreign = try example.bytes("180p", 4)
        let own = try example.bytes("270p", 0)
        var bad = [(example.path("180p", 4), foreign), (example.path("270p", 0), own)]
        if example.isFragments {
            // Otherwise the smaller rendition plays longer: its second segment needs no cut.
            bad.append((example.path("270p", 1), try example.bytes("270p", 1)))
        }
        for (path, bytes) in bad {
            let digits = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            try await fixture.origin.add(OriginRule(path) { ($0.status, $0.bodyHex) = (200, digits) })
        }
        if example.isFragments {
            try await store(fixture, example, "audio-en", Array(0..<7))
        }
        try await store(fixture, example, "video-180p", example.isFragments ? Array(3...9) : Array(2...5))
        try await store(fixture, example, "video-270p", example.isFragments ? [0, 1, 2] : [0, 1])

        // Media that seems to be cut becomes a piece after a second request, which may come after the player's last one.
        var list = ""
        try await waitUntil("the larger rendition offline") {
            let lists = try await fixture.entry("/offline/\(example.fixture).m3u8")
            list = lists.first { $0.contains("/video-270p/") } ?? ""
            return list != ""
        }
        let paths = try await fixture.paths(at: list).filter { !$0.contains("init") }
        let numbers = paths.compactMap { $0.split(separator: "/").last?.prefix { $0 != "." } }.compactMap { Int($0) }
        #expect(numbers == [0, 1, 2, 3] + (example.isFragments ? Array(6...9) : [5]), "sound goes on at the sixth")
        // Segment 4 has no substitute. A player with an earlier playlist can request it.
        let fourth = paths[0].replacing("/0.", with: "/4.")
        #expect(try await fixture.get(fourth).status == 404)
        for path in paths {
            #expect(try await fixture.get(path).status == 200)
        }

        let answer = try await fixture.get(paths[0])
        #expect([UInt8](answer.body) == own, "not as it is")
        let events = await fixture.playback.sessions.errorEvents(LogQuery())
        let notes = events.filter { $0.comment.contains("cannot be joined") }
        #expect(notes.allSatisfy { $0.domain == .media }, "\(events)")
        #expect(notes.first?.uri?.contains("/video-270p/0.") == true, "\(events)")
    }
}
