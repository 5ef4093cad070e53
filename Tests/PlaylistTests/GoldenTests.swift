import Testing

@testable import Playlist

@Suite("Golden playlists")
struct GoldenTests {
    @Test("rendered in a view, come out as expected", arguments: try GoldenCase.all(in: "relay"))
    func relay(_ golden: GoldenCase) throws {
        #expect(try golden.rendered() == golden.expected)
    }

    @Test("rendered from what is stored, list exactly that", arguments: try GoldenCase.all(in: "stored"))
    func stored(_ golden: GoldenCase) throws {
        #expect(try golden.rendered() == golden.expected)
    }

    @Test("rendered for the disk, have relative names alone", arguments: try GoldenCase.all(in: "bundle"))
    func bundle(_ golden: GoldenCase) throws {
        #expect(try golden.rendered() == golden.expected)
    }

    @Test("malformed, are refused by line and reason", arguments: try GoldenCase.all(in: "malformed"))
    func malformed(_ golden: GoldenCase) throws {
        let error = try #require(throws: PlaylistError.self) { try Playlist.parse(golden.input) }
        #expect("\(error.code.rawValue): \(error)\n" == golden.expected)
    }

    @Test("rendered with no new name, differ in nothing", arguments: try GoldenCase.all(in: "relay"))
    func untouched(_ golden: GoldenCase) throws {
        // Where variables are replaced, nothing can come out as it was.
        guard !String(decoding: golden.input, as: UTF8.self).contains("#EXT-X-DEFINE") else { return }
        switch try Playlist.parse(golden.input) {
        case .multivariant(let playlist):
            #expect(try playlist.rendered(.relay) { _ in nil } == golden.input)
        case .media(let playlist) where playlist.isLive || !playlist.isLowLatency:
            #expect(try playlist.rendered(.relay) { _ in nil } == golden.input)
        case .media: break
        }
    }
}
