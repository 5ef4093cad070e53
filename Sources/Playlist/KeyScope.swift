/// Which keys hold where (RFC 8216 §4.3.2.4): each EXT-X-KEY replaces the one of its KEYFORMAT, NONE clears them all.
struct KeyScope {
    private struct Identity: Hashable {
        let uri: String
        let keyFormat: String
    }

    /// The lines that differ, in order of first appearance.
    private(set) var records: [Key.Record] = []
    /// For each EXT-X-KEY line in order, its record.
    private(set) var occurrences: [Int32] = []
    /// The sets of records that some segment or map refers to.
    private(set) var sets: [[Int32]] = []
    private var inForce: [Int32] = []
    private var currentSet: Int32 = -1
    private var isCurrent = true
    private var indices: [Identity: Int32] = [:]

    /// The set in force; -1 for none.
    ///
    /// Sets are made only where one is asked for, so their number is bounded by segments.
    mutating func current() -> Int32 {
        if isCurrent { return currentSet }
        isCurrent = true
        currentSet = inForce.isEmpty ? -1 : Int32(sets.count)
        if !inForce.isEmpty { sets.append(inForce) }
        return currentSet
    }

    /// Reads one EXT-X-KEY line.
    mutating func read(_ text: PlaylistText, _ line: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        let place = try record(text, line, limits)
        occurrences.append(place)
        let key = records[Int(place)]
        if key.method == .none {
            if !inForce.isEmpty { (inForce, isCurrent) = ([], false) }
            return
        }
        let format = Key(text: text, record: key).keyFormat
        let same = inForce.firstIndex { Key(text: text, record: records[Int($0)]).keyFormat == format }
        if let same {
            if inForce[same] == place { return }
            inForce[same] = place
        } else {
            if inForce.count == limits.keyFormats { throw text.error(.overLimit, line, "too many KEYFORMATs at once") }
            inForce.append(place)
        }
        isCurrent = false
    }

    /// The record of a line: a known one where the lines before hold the same bytes, as they do in most playlists.
    private mutating func record(
        _ text: PlaylistText, _ line: Int, _ limits: PlaylistLimits
    ) throws(PlaylistError) -> Int32 {
        for place in occurrences.suffix(4) {
            let known = Int(records[Int(place)].line)
            if text.bytes.areEqual(text.value(known), text.value(line)) { return place }
        }
        var record = try Key.parse(text, line, limits)
        let key = Key(text: text, record: record)
        if record.method != .none {
            let identity = Identity(uri: key.uri, keyFormat: key.keyFormat)
            record.index = indices[identity] ?? Int32(indices.count)
            indices[identity] = record.index
        }
        records.append(record)
        return Int32(records.count - 1)
    }
}
