import Foundation
import Testing

@testable import Store

@Suite struct RecordFileTests {
    @Test(arguments: 0..<4) func decodesAnEncodedRecord(_ number: Int) throws {
        var rows = SampleCatalogue.rows(number)
        rows.revision = 7
        #expect(try RecordFile.decode(RecordFile.encode(rows)) == rows)
    }

    @Test func encodesPlaylistsAsText() throws {
        let text = String(decoding: try RecordFile.encode(SampleCatalogue.rows(1, segments: 2)), as: UTF8.self)
        #expect(text.contains(#""text":"#) && text.contains("#EXTINF:6.006") && text.contains(#""format":1"#))
    }

    @Test(arguments: [
        ("", "not a record"), ("{}", "not a record"), ("[1]", "not a record"), (#"{"format":"1"}"#, "not a record"),
        (#"{"format":2,"revision":1}"#, "format 2"), (#"{"format":1}"#, "not a record"),
    ])
    func refusesOtherTexts(_ text: String, _ reason: String) {
        let failure = #expect(throws: RecordFile.Failure.self) { try RecordFile.decode(Array(text.utf8)) }
        #expect(failure?.description.contains(reason) ?? false, "\(String(describing: failure))")
    }

    @Test func refusesAChangedRecord() throws {
        let rows = SampleCatalogue.rows(1, segments: 2)
        let text = String(decoding: try RecordFile.encode(rows), as: UTF8.self)
        for (old, new) in [
            ("film-1\"", "film-2\""), ("token=1", "token=2"), ("6.006", "6.007"),
            ("\"created\":2001", "\"created\":2002"),
            ("keys.example/1/0", "keys.example/1/1"), ("Bearer 1", "Bearer 2"), ("space", "spice"),
            ("\"asset\":\"film-1-k3f9\",\"came\"", "\"asset\":\"film-2-k3f9\",\"came\""),
            ("\"came\":5100", "\"came\":5101"), ("\"revoked\":9300,", ""), ("\"fromNetwork\":true,", ""),
        ] {
            let changed = text.replacingOccurrences(of: old, with: new)
            #expect(changed != text, "\(old)")
            #expect(throws: RecordFile.Failure.self, "\(old)") { try RecordFile.decode(Array(changed.utf8)) }
        }
        let cut = Array(text.utf8.dropLast(40))
        #expect(throws: RecordFile.Failure.self) { try RecordFile.decode(cut) }
    }

    @Test func computesTheChecksumInAnyOrderOfRows() {
        var rows = SampleCatalogue.rows(5)
        let sum = rows.contents.sum
        rows.belongings.playlists.reverse()
        rows.belongings.keys.reverse()
        #expect(rows.contents.sum == sum)
        rows.belongings.keys.removeLast()
        #expect(rows.contents.sum != sum)
    }

    // MARK: Changes

    private static let first = SampleCatalogue.rows(1, segments: 2)

    private static let changes: [AssetChange] = {
        let id = first.asset.id
        var asset = first.asset
        asset.title = "Another"
        let playlist = PlaylistRecord(
            asset: id, rendition: "audio-en", url: "https://o/new", body: [10, 13], fetched: 9)
        let keys = [0, 1].map { KeyRecord(asset: id, number: $0, url: "https://o/new-\($0)") }
        return [
            AssetChange(asset: id, revision: 2, without: ["video-360p"], contents: .init(keys: [keys[1]])),
            AssetChange(asset: id, revision: 3, without: ["audio-en"], contents: .init(playlists: [playlist])),
            AssetChange(asset: id, revision: 4, contents: .init(assets: [first.asset, asset], keys: [keys[0]])),
        ]
    }()

    /// The record after so many of the changes.
    private static func text(changes count: Int) throws -> [UInt8] {
        try changes.prefix(count).reduce(RecordFile.encode(first)) { try $0 + RecordFile.encode($1) }
    }

    @Test func appliesTheChangesInTheirOrder() throws {
        let rows = try RecordFile.decode(Self.text(changes: 3))
        let former = Self.first.belongings
        #expect(rows.revision == 4 && rows.asset.title == "Another")
        #expect(rows.belongings.playlists.map(\.rendition) == ["", "video-1080p", "audio-en"])
        #expect(rows.belongings.playlists.last?.body == [10, 13])
        #expect(Set(rows.belongings.keys.map(\.url)) == ["https://o/new-0", "https://o/new-1"])
        #expect(rows.belongings.downloads == former.downloads && rows.belongings.volumes == former.volumes)
    }

    /// The end of the process, or of the power, leaves a part of a line.
    @Test func ignoresALineThatIsCut() throws {
        let states = try (0...3).map { try RecordFile.decode(Self.text(changes: $0)) }
        let ends = try (0...3).map { try Self.text(changes: $0).count }
        let text = try Self.text(changes: 3)
        for length in ends[0]..<text.count {
            // The line end alone may be missing.
            let whole = ends.lastIndex { $0 <= length + 1 } ?? 0
            let zeros = [UInt8](repeating: 0, count: 7)
            #expect(try RecordFile.decode(Array(text[..<length])) == states[whole], "\(length)")
            #expect(try RecordFile.decode(text[..<ends[whole]] + zeros) == states[whole], "\(length)")
        }
    }

    @Test func ignoresTheLinesFromADamagedOneOn() throws {
        let text = String(decoding: try Self.text(changes: 3), as: UTF8.self)
        let expected = try RecordFile.decode(Self.text(changes: 1))
        for (old, new) in [
            ("[\"audio-en\"]", "[\"audio-de\"]"), ("https://o/new\"", "https://o/now\""),
            ("\"revision\":3", "\"revision\":5"),
        ] {
            let changed = text.replacingOccurrences(of: old, with: new)
            #expect(changed != text, "\(old)")
            #expect(try RecordFile.decode(Array(changed.utf8)) == expected, "\(old)")
        }
    }

    /// Earlier Weirs computed one digest of all rows.
    @Test func readsARecordWithTheChecksumOfAnEarlierWeir() throws {
        let rows = SampleCatalogue.rows(1, segments: 2)
        let former = "cbb2cebc1f68dfce34aab6165c8af486ef4243ba28e43c57be79a9d810b3e4cf"
        #expect(rows.contents.formerSum.description == former)
        let text = String(decoding: try RecordFile.encode(rows), as: UTF8.self)
            .replacingOccurrences(of: rows.contents.sum.description, with: former)
        #expect(try RecordFile.decode(Array(text.utf8)) == rows)
        let changed = text.replacingOccurrences(of: "Bearer 1", with: "Bearer 2")
        #expect(throws: RecordFile.Failure.self) { try RecordFile.decode(Array(changed.utf8)) }
    }

    @Test func distinguishesEqualValuesOfDifferentColumns() {
        var one = SampleCatalogue.rows(0).asset
        var other = one
        one.title = "a"
        one.fields = nil
        other.title = nil
        other.fields = "a"
        let sums = [one, other].map { Catalogue.Contents(assets: [$0]).sum }
        #expect(sums[0] != sums[1])
    }
}
