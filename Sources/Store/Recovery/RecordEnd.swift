/// The end of a record that this process has written: it decides if changes are appended, or the record is written anew. Pure.
///
/// A record is written anew once it has grown to twice its first length. So all writes of a record together are in proportion to
/// the changes, however many rows it has.
struct RecordEnd: Equatable, Sendable {
    /// Lines for the end of a record, and the revision after them.
    struct Lines: Equatable, Sendable {
        var text: [UInt8] = []
        var revision: Int
    }

    /// The growth that a short record may have all the same, in bytes.
    private static let leastGrowth = 4096
    /// The growth that a long record may have, in bytes: it must stay readable.
    private static let mostGrowth = 64 << 20
    /// The revision of the last line.
    private(set) var revision: Int
    /// The length in bytes.
    private(set) var length: Int
    /// The length, in bytes, that it may have.
    private let limit: Int

    /// Makes the end of a new record.
    init(revision: Int, length: Int) {
        self.revision = revision
        self.length = length
        limit = length + min(max(length, Self.leastGrowth), Self.mostGrowth)
    }

    /// The lines of the changes that the record lacks, in the order of the transactions. Returns nil if the record is to be written
    /// anew: it would be too long, or a change is missing.
    func lines(of changes: [AssetChange]) throws(StoreError) -> Lines? {
        var lines = Lines(revision: revision)
        let missing = changes.filter { $0.revision > revision }
        for change in missing.sorted(by: { $0.revision < $1.revision }) {
            guard change.revision == lines.revision + 1 else { return nil }
            do {
                lines.text += try RecordFile.encode(change)
            } catch {
                throw StoreError(.io, path: change.asset, detail: "\(error)")
            }
            lines.revision = change.revision
            guard length + lines.text.count <= limit else { return nil }
        }
        return lines
    }

    /// The end after these lines were appended.
    func after(_ lines: Lines) -> RecordEnd {
        var end = self
        end.revision = lines.revision
        end.length += lines.text.count
        return end
    }
}
