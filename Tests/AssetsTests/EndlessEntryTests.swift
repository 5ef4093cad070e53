import EventLoop
import TestRooms
import TestSupport
import Testing

@testable import Assets

/// URLs that lead to something else than a playlist, and perhaps without an end: its first bytes tell.
@Suite @LoopActor struct EndlessEntryTests {
    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { String(Int($0) + 256, radix: 16).suffix(2) }.joined()
    }

    nonisolated static let packets = (0..<40).flatMap { _ in [0x47] + [UInt8](repeating: 1, count: 187) }
    nonisolated static let frames = (0..<20).flatMap { _ in
        [0xFF, 0xFB, 0x90, 0x64] + [UInt8](repeating: 0, count: 413)
    }
    nonisolated static let pictures = Array("--b\r\nContent-Type: image/jpeg\r\n\r\n".utf8) + [0xFF, 0xD8, 0xFF]

    /// The origin sends this and then nothing, on an open connection.
    @Test(arguments: [
        (packets, "an MPEG transport stream"), (frames, "a sound stream"), (pictures, "a series of JPEG pictures"),
        (Array("nothing known".utf8), "something else"),
    ])
    func isRecognisedWhileItIsSent(_ bytes: [UInt8], _ words: String) async throws {
        let fixture = try await TestHouse()
        try await fixture.origin.add(
            OriginRule("/live.m3u8") { rule in
                rule.status = 200
                rule.bodyHex = Self.hexadecimal(bytes + [0, 0])
                rule.chunked = true
                rule.stallAfter = bytes.count
            })
        let error = await #expect(throws: LibraryError.self) { try await fixture.open("/live.m3u8") }
        #expect(error?.code == .notPlaylist)
        #expect(error?.message.contains("gave \(words)") == true, "\(error?.message ?? "")")
    }

    /// The origin states a length of 1 GB.
    @Test func aFilmOfAGigabyteIsNotFetched() async throws {
        let fixture = try await TestHouse()
        let bytes = [0, 0, 0, 0x18] + Array("ftypmp42".utf8) + [UInt8](repeating: 0, count: 8000)
        try await fixture.origin.add(
            OriginRule("/film.m3u8") { rule in
                rule.status = 200
                rule.bodyHex = Self.hexadecimal(bytes)
                rule.contentLength = 1 << 30
                rule.stallAfter = bytes.count - 1
            })
        let error = await #expect(throws: LibraryError.self) { try await fixture.open("/film.m3u8") }
        #expect(error?.message.contains("gave an MP4 file") == true, "\(error?.message ?? "")")
    }
}
