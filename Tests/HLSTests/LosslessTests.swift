import Testing

@testable import HLS

/// A committed text of any case.
struct LosslessCase: CustomTestStringConvertible, Sendable {
    let name: String
    let bytes: [UInt8]

    var testDescription: String { name }

    /// All texts under `fixtures/playlists` that can be split into lines.
    static func all() throws -> [LosslessCase] {
        let whole = try Fixtures.files(in: "lossless").map { LosslessCase(name: "lossless/\($0.0)", bytes: $0.1) }
        let inputs = try ["relay", "stored", "bundle", "check", "malformed"].flatMap { folder in
            try GoldenCase.all(in: folder).map { LosslessCase(name: "\(folder)/\($0.name)", bytes: $0.input) }
        }
        return (whole + inputs).filter { (try? PlaylistText($0.bytes)) != nil }
    }

    /// All texts that can be parsed and whose relay view changes only names: without mends and variables, and without low-latency
    /// tags in a playlist that has ended.
    static func relayed() throws -> [LosslessCase] {
        try all().filter { text in
            guard let playlist = try? Playlist.parse(text.bytes) else { return false }
            if playlist.text.isChanged || playlist.text.firstLine(.define) != nil {
                return false
            }
            guard case .media(let media) = playlist else { return true }
            return media.isLive || !media.isLowLatency
        }
    }
}

@Suite("Every committed playlist")
struct LosslessTests {
    @Test("is found")
    func count() throws {
        #expect(try Fixtures.files(in: "lossless").count >= 150)
        #expect(try LosslessCase.all().count >= 250)
        #expect(try LosslessCase.relayed().count >= 200)
    }

    @Test("is written back byte for byte", arguments: try LosslessCase.all())
    func written(_ text: LosslessCase) throws {
        #expect(try PlaylistText(text.bytes).write() == text.bytes)
        if let playlist = try? Playlist.parse(text.bytes) {
            #expect(playlist.text.write() == text.bytes)
        }
    }

    @Test("differs only in its names after relaying", arguments: try LosslessCase.relayed())
    func relayed(_ text: LosslessCase) throws {
        var names = NewNames()
        let output: [UInt8]
        switch try Playlist.parse(text.bytes) {
        case .multivariant(let playlist):
            output = try playlist.rendered(.relay) { names.name(NewNames.uri($0)) }
        case .media(let playlist):
            let view = MediaPlaylistView(
                keepsLowLatency: true, keepsByteRanges: true, isFinished: false, isCorrected: false)
            output = try playlist.rendered(view) { names.name(NewNames.uri($0)) }
        }
        let hasMark = text.bytes.starts(with: [0xEF, 0xBB, 0xBF])
        let before = Self.lines(Array(text.bytes.dropFirst(hasMark ? 3 : 0)))
        let after = Self.lines(output)
        #expect(before.count == after.count)
        for (old, new) in zip(before, after) {
            #expect(names.isRenamed(old, new), "\(old) became \(new)")
        }
        #expect(names.count == 0 || output != text.bytes)
    }

    private static func lines(_ bytes: [UInt8]) -> [String] {
        bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Gives each reference a unique name, and maps the names back.
private struct NewNames {
    private var uris: [String] = []

    var count: Int { uris.count }

    mutating func name(_ uri: String?) -> String? {
        guard let uri, !uri.isEmpty else { return nil }
        uris.append(uri)
        return "/new-\(uris.count - 1)/"
    }

    /// True if two lines differ only by new names: a URI line without the blanks around it, a URI with quotes that were
    /// missing, and a byte range with an offset that was omitted.
    func isRenamed(_ old: String, _ new: String) -> Bool {
        if old == new {
            return true
        }
        if old.hasPrefix("#EXT-X-BYTERANGE:") {
            return new.hasPrefix(old.trimmed + "@")
        }
        var restored = restored(new)
        if old.hasPrefix("#EXT-X-PART:"), !old.contains("@"), let offset = restored.firstIndex(of: "@"),
            let end = restored[offset...].firstIndex(of: "\"")
        {
            restored.removeSubrange(offset..<end)
        }
        if old.trimmed.first != "#" {
            return restored.trimmed == old.trimmed
        }
        return restored == old || restored.replacing("\"", with: "") == old.replacing("\"", with: "")
    }

    private func restored(_ line: String) -> String {
        var text = ""
        var rest = line[...]
        while let mark = rest.firstRange(of: "/new-") {
            let end = rest[mark.upperBound...].firstIndex(of: "/") ?? rest.endIndex
            guard let number = Int(rest[mark.upperBound..<end]), uris.indices.contains(number) else { return line }
            text += rest[..<mark.lowerBound] + uris[number]
            rest = rest[rest.index(after: end)...]
        }
        return text + rest
    }

    static func uri(_ reference: MediaPlaylist.Reference) -> String? {
        switch reference {
        case .segment(let segment): segment.uri
        case .map(let map): map.uri
        case .key(let key): key.uri
        case .part(let part): part.uri
        case .preloadHint(let hint): hint.uri
        case .renditionReport(let report): report.uri
        case .assetURI(let range): range.assetURI
        case .assetList(let range): range.assetList
        }
    }

    static func uri(_ reference: MultivariantPlaylist.Reference) -> String? {
        switch reference {
        case .variant(let variant): variant.uri
        case .media(let media): media.uri
        case .iFrameVariant(let variant): variant.uri
        case .sessionKey(let key): key.uri
        case .sessionData(let data): data.uri
        case .imageVariant(let images): images.uri
        case .steering(let steering): steering.serverURI
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
            return ""
        }
        return String(self[first...last])
    }
}
