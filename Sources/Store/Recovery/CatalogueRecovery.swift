/// What became of a catalogue that was damaged, gone, or older than the records of its assets.
public struct CatalogueRecovery: Equatable, Sendable, CustomStringConvertible {
    /// What was found, as the rest of a sentence on the catalogue.
    public let finding: String
    /// How many assets there are again, or still.
    public let count: Int
    /// How many of them are as their records say.
    public let restored: Int
    /// The ids of those that are lost, sorted.
    public let lost: [String]
    /// The records that could not be read: where, and why.
    public let unreadable: [StoreError]
    /// Where the damaged file was put; nil where there was none.
    public let setAside: String?

    /// A sentence for a log.
    public var description: String {
        var text = "the catalogue \(finding): "
        text += count == 1 ? "1 asset is there again" : "\(count) assets are there again"
        text += ", \(restored) of them from \(RecordFolder.name)"
        if !lost.isEmpty { text += ", and \(lost.count) could not be restored (\(lost.joined(separator: ", ")))" }
        if let setAside { text += "; the damaged file lies in \(setAside)" }
        for error in unreadable { text += "; put aside, since it could not be read: \(error)" }
        return text
    }

    /// Equality of what is told.
    public static func == (one: Self, other: Self) -> Bool { one.description == other.description }
}
