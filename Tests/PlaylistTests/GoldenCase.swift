import Testing

@testable import Playlist

/// A golden case: a file of input, a separator line that names the view, and the expected output.
struct GoldenCase: CustomTestStringConvertible, Sendable {
    let name: String
    let input: [UInt8]
    /// The words of the separator line: the view, and for the offline one the places of the stored renditions; for a
    /// media playlist "holed" or "marked", and the places of the stored segments.
    let view: [String]
    let expected: String

    var testDescription: String { name }
    var stored: Set<Int> { Set(view.dropFirst().compactMap { Int($0) }) }

    /// All cases of a folder under `fixtures/playlists`; a folder without any is a fault of the checkout.
    static func all(in folder: String) throws -> [GoldenCase] {
        try Fixtures.files(in: folder).map { name, bytes in
            let mark = Array("===== ".utf8)
            let start = try #require(bytes.indices.first { bytes[$0...].starts(with: mark) && isLineStart($0, bytes) })
            let end = try #require(bytes[start...].firstIndex(of: 0x0A))
            let words = String(decoding: bytes[start..<end], as: UTF8.self).split(separator: " ").dropFirst()
            // A text that was cut off has no end of its last line.
            let inputEnd = words.contains("cut") ? start - 1 : start
            return GoldenCase(
                name: name, input: Array(bytes[..<inputEnd]), view: words.map(String.init),
                expected: String(decoding: bytes[(end + 1)...], as: UTF8.self))
        }
    }

    private static func isLineStart(_ index: Int, _ bytes: [UInt8]) -> Bool {
        index == 0 || bytes[index - 1] == 0x0A
    }

    /// What a check says of the input, a finding a line.
    func checked() -> String { PlaylistCheck.diagnostics(of: input).map { "\($0)\n" }.joined() }

    /// The view that the separator line names, written out.
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
