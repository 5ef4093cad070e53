/// A SHA-256 over rows of the catalogue on its way.
///
/// Each field goes in with its name and its length in bytes, and one without a value not at all: so a column that is
/// added later, and may be empty, changes no sum. A step of the catalogue that changes what rows say must empty the table
/// `checksum`.
struct RowSum: ~Copyable {
    private var state = DigestState()
    private var pending: [UInt8] = []

    /// Begins a row of a table.
    mutating func begin(_ table: String) {
        pending += "\n".utf8
        pending += table.utf8
        pending += "\n".utf8
    }

    /// Adds bytes, which are not copied where they are many.
    mutating func add(_ field: String, bytes: [UInt8]) {
        begin(field, bytes.count)
        guard bytes.count > 1024 else { return pending += bytes }
        pass()
        bytes.withUnsafeBytes { state.add($0) }
    }

    /// Adds a text as UTF-8.
    mutating func add(_ field: String, _ text: String?) {
        guard let text else { return }
        begin(field, text.utf8.count)
        pending += text.utf8
    }

    private mutating func begin(_ field: String, _ count: Int) {
        pending += field.utf8
        pending += ":".utf8
        pending += "\(count)".utf8
        pending += ":".utf8
    }

    /// Adds a number in digits.
    mutating func add(_ field: String, _ number: (some FixedWidthInteger)?) {
        guard let number else { return }
        add(field, "\(number)")
    }

    /// Of all that was added. Once.
    consuming func digest() -> Digest {
        pass()
        return state.digest
    }

    private mutating func pass() {
        pending.withUnsafeBytes { state.add($0) }
        pending.removeAll(keepingCapacity: true)
    }
}

extension AssetRecord {
    /// Adds every column: one that is forgotten could be changed behind the catalogue's back.
    func add(to sum: inout RowSum) {
        sum.begin(Self.databaseTableName)
        sum.add("id", id)
        sum.add("name", name)
        sum.add("title", title)
        sum.add("origin", origin)
        sum.add("created", created)
        sum.add("fields", fields)
        sum.add("revises", revises)
        sum.add("fromNetwork", fromNetwork.map { $0 ? 1 : 0 })
    }
}

extension PlaylistRecord {
    /// As for an asset.
    func add(to sum: inout RowSum) {
        sum.begin(Self.databaseTableName)
        sum.add("asset", asset)
        sum.add("rendition", rendition)
        sum.add("url", url)
        sum.add("body", bytes: body)
        sum.add("imports", imports?.count)
        for (name, value) in (imports ?? [:]).sorted(by: { $0.key < $1.key }) {
            sum.add("name", name)
            sum.add("value", value)
        }
        sum.add("fetched", fetched)
    }
}

extension KeyRecord {
    /// As for an asset.
    func add(to sum: inout RowSum) {
        sum.begin(Self.databaseTableName)
        sum.add("asset", asset)
        sum.add("number", number)
        sum.add("url", url)
        sum.add("came", came)
        sum.add("firstPlayed", firstPlayed)
        sum.add("expires", expires)
        sum.add("dated", dated)
        sum.add("lapsed", lapsed)
        sum.add("invalidated", invalidated)
        sum.add("digest", digest)
    }
}

extension DownloadRecord {
    /// As for an asset.
    func add(to sum: inout RowSum) {
        sum.begin(Self.databaseTableName)
        sum.add("asset", asset)
        sum.add("renditions", renditions)
        sum.add("state", state)
        sum.add("task", task)
        sum.add("need", need)
        sum.add("errorCode", errorCode)
        sum.add("errorMessage", errorMessage)
        sum.add("created", created)
    }
}

extension RecordingRecord {
    /// As for an asset.
    func add(to sum: inout RowSum) {
        sum.begin(Self.databaseTableName)
        sum.add("asset", asset)
        sum.add("rendition", rendition)
    }
}

extension StorageRecord {
    /// As for an asset.
    func add(to sum: inout RowSum) {
        sum.begin(Self.databaseTableName)
        sum.add("asset", asset)
        sum.add("expires", expires)
        sum.add("afterFirstPlay", afterFirstPlay)
        sum.add("priority", priority)
        sum.add("isExcluded", isExcluded ? 1 : 0)
        sum.add("keysExpire", keysExpire)
        sum.add("keysAfterFirstPlay", keysAfterFirstPlay)
        sum.add("firstPlayed", firstPlayed)
        sum.add("lastPlayed", lastPlayed)
        sum.add("purged", purged)
        sum.add("purgedBytes", purgedBytes)
        sum.add("purgeCause", purgeCause)
    }
}
