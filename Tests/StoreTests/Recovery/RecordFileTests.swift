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
