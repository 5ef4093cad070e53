import Testing

@testable import HLS

@Suite("Golden playlists")
struct GoldenTests {
    @Test("match the expected view", arguments: try GoldenCase.all(in: "relay"))
    func relay(_ golden: GoldenCase) throws {
        #expect(try golden.rendered() == golden.expected)
    }

    @Test(
        "list exactly the stored renditions and segments in the offline view",
        arguments: try GoldenCase.all(in: "stored"))
    func stored(_ golden: GoldenCase) throws {
        #expect(try golden.rendered() == golden.expected)
    }

    @Test("have only relative names in a bundle", arguments: try GoldenCase.all(in: "bundle"))
    func bundle(_ golden: GoldenCase) throws {
        #expect(try golden.rendered() == golden.expected)
    }

    @Test("are rejected with line and reason if malformed", arguments: try GoldenCase.all(in: "malformed"))
    func malformed(_ golden: GoldenCase) throws {
        let error = try #require(throws: PlaylistError.self) { try Playlist.parse(golden.input) }
        #expect("\(error.code.rawValue): \(error)\n" == golden.expected)
    }

    @Test("do not change without new names", arguments: try GoldenCase.all(in: "relay"))
    func untouched(_ golden: GoldenCase) throws {
        let playlist = try Playlist.parse(golden.input)
        // Mends and replaced variables change the text.
        guard !playlist.text.isChanged else { return }
        switch playlist {
        case .multivariant(let playlist):
            #expect(try playlist.rendered(.relay) { _ in nil } == golden.input)
        case .media(let playlist) where playlist.isLive || !playlist.isLowLatency:
            #expect(try playlist.rendered(.relay) { _ in nil } == golden.input)
        case .media: break
        }
    }
}

/// A golden case: a file of input, a separator line that names the view, and the expected output.
struct GoldenCase: CustomTestStringConvertible, Sendable {
    let name: String
    let input: [UInt8]
    /// The words of the separator line: the view, and for the offline view the indices of the stored renditions. For a
    /// media playlist "holed" or "marked", and the indices of the stored segments.
    let view: [String]
    let expected: String

    var testDescription: String { name }
    var stored: Set<Int> { Set(view.dropFirst().compactMap { Int($0) }) }

    /// All cases of a folder under `fixtures/playlists`.
    static func all(in folder: String) throws -> [GoldenCase] {
        try Fixtures.files(in: folder).map { name, bytes in
            let mark = Array("===== ".utf8)
            let start = try #require(bytes.indices.first { bytes[$0...].starts(with: mark) && isLineStart($0, bytes) })
            let end = try #require(bytes[start...].firstIndex(of: 0x0A))
            let words = String(decoding: bytes[start..<end], as: UTF8.self).split(separator: " ").dropFirst()
            // A truncated text has no terminator on its last line.
            let inputEnd = words.contains("cut") ? start - 1 : start
            return GoldenCase(
                name: name, input: Array(bytes[..<inputEnd]), view: words.map(String.init),
                expected: String(decoding: bytes[(end + 1)...], as: UTF8.self))
        }
    }

    private static func isLineStart(_ index: Int, _ bytes: [UInt8]) -> Bool {
        index == 0 || bytes[index - 1] == 0x0A
    }

    /// The findings for the input, one per line.
    func checked() -> String { PlaylistRules.diagnostics(of: input).map { "\($0)\n" }.joined() }

    /// The input, rendered in the view that the separator line names.
    func rendered() throws -> String {
        let output: [UInt8]?
        switch try Playlist.parse(input) {
        case .multivariant(let playlist):
            output =
                switch view[0] {
                case "stored": try playlist.stored(renditions: stored, naming: Fixtures.name)
                case "bundle": try playlist.stored(.bundle, renditions: stored, naming: Fixtures.relativeName)
                case "player": try playlist.rendered(.player, naming: Fixtures.name)
                default: try playlist.rendered(.relay, naming: Fixtures.name)
                }
        case .media(let playlist):
            let views = ["relay": MediaPlaylistView.relay, "plain": .plain, "stored": .stored, "bundle": .bundle]
            let stays = playlist.segments.indices.map(stored.contains)
            let cut = views[view[0]] == nil ? MediaPlaylistCut(stays: stays, isMarked: view[0] == "marked") : nil
            output = try playlist.rendered(views[view[0]] ?? .stored, cut: cut) {
                view[0] == "bundle" ? Fixtures.relativeName($0) : Fixtures.name($0)
            }
        }
        return output.map { String(decoding: $0, as: UTF8.self) } ?? "nothing\n"
    }
}
