import Glibc
import Orders

/// A record reads as the rows that were written, whatever is in them; and with any damage as the rows after one of its lines, or not at
/// all.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    _ = try? RecordFile.decode(bytes)
    var words = Words(rest: bytes[...])
    let rows = words.rows()
    guard var text = try? RecordFile.encode(rows) else { preconditionFailure("rows that cannot be written") }
    // The rows after each line.
    var states = [rows]
    for _ in 0..<min(4, words.number() & 7) {
        var change = words.change(of: rows.asset.id)
        change.revision = states[states.count - 1].revision + 1
        guard let line = try? RecordFile.encode(change) else { preconditionFailure("a change that cannot be written") }
        text += line
        states.append(after(change, states[states.count - 1]))
    }
    guard let read = try? RecordFile.decode(text) else { preconditionFailure("a record that cannot be read") }
    precondition(isEqual(read, states[states.count - 1]), "a record that reads as other rows")

    var damaged = text
    let offset = words.number() << 8 + words.number()
    if words.number() % 2 == 0 {
        damaged.removeLast(offset % text.count)
    } else {
        damaged[offset % text.count] ^= UInt8(words.number()) | 1
    }
    if let read = try? RecordFile.decode(damaged) {
        // The checksum is that of the rows: the number of the revision is compared with the file's name.
        precondition(states.contains { $0.contents.sum == read.contents.sum }, "rows that were never there")
    }
    return 0
}

/// A second reading of what a change does.
private func after(_ change: AssetChange, _ rows: AssetRows) -> AssetRows {
    var contents = rows.contents
    contents.playlists.removeAll { change.without.contains($0.rendition) }
    for playlist in change.contents.playlists {
        contents.playlists.removeAll { $0.rendition == playlist.rendition }
        contents.playlists.append(playlist)
    }
    for key in change.contents.keys {
        contents.keys.removeAll { $0.number == key.number }
        contents.keys.append(key)
    }
    let asset = change.contents.assets.last ?? rows.asset
    return AssetRows(revision: change.revision, asset: asset, contents)
}

/// Rows are equal in any order.
private func isEqual(_ left: AssetRows, _ right: AssetRows) -> Bool {
    left.revision == right.revision && left.contents.sum == right.contents.sum
}

/// Makes rows of the bytes of an input.
private struct Words {
    var rest: ArraySlice<UInt8>

    mutating func number() -> Int { Int(rest.popFirst() ?? 0) }

    mutating func bytes() -> [UInt8] {
        let word = Array(rest.prefix(number() & 31))
        rest = rest.dropFirst(word.count)
        return word
    }

    mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

    mutating func asset(_ id: String) -> AssetRecord {
        AssetRecord(
            id: id, name: text(), title: number() % 2 == 0 ? nil : text(), origin: text(),
            created: Int64(number()) << 50,
            fields: number() % 2 == 0 ? nil : text(), route: number() % 2 == 0 ? nil : text())
    }

    mutating func playlist(of id: String, _ rendition: String) -> PlaylistRecord {
        PlaylistRecord(
            asset: id, rendition: rendition, url: text(), body: bytes(),
            imports: number() % 2 == 0 ? nil : Dictionary([(text(), text()), (text(), text())]) { $1 },
            fetched: Int64(number()),
            wasLive: number() % 2 == 0 ? nil : true)
    }

    mutating func rows() -> AssetRows {
        let id = text()
        var contents = Catalogue.Contents()
        for index in 0..<(number() & 3) {
            contents.playlists.append(playlist(of: id, "\(index)"))
        }
        return AssetRows(revision: number(), asset: asset(id), contents)
    }

    mutating func change(of id: String) -> AssetChange {
        var change = AssetChange(asset: id)
        for index in 0..<(number() & 1) {
            change.without.append("\(index)")
        }
        if number() % 2 == 0 {
            change.contents.assets = [asset(id)]
        }
        for _ in 0..<(number() & 3) {
            change.contents.playlists.append(playlist(of: id, "\(number() & 3)"))
        }
        return change
    }
}
