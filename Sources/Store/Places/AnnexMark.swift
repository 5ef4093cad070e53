import Foundation

/// The text of `annex.json`: what tells an annex from every other folder that may be at its path.
///
/// Where a disk is not mounted there is an empty folder in its place, or another disk: neither is written to.
struct AnnexMark: Codable {
    /// The file's name.
    static let fileName = "annex.json"
    private static let format = 1

    /// The version of this text.
    let format: Int
    /// 32 hexadecimal digits, drawn at random.
    let id: String
    /// For whoever finds the folder.
    let note: String

    /// The mark of a new annex.
    init() {
        format = Self.format
        id = (0..<2).map { _ in
            let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
        note = "Bundles of a Weir store lie here, by \"weir move\". That store alone knows them."
    }

    /// The mark of a folder; nil where it has none.
    ///
    /// - Throws: `newer` for one that a newer Weir has made, `exists` for a file that is no mark.
    static func read(in folder: Directory) throws(StoreError) -> AnnexMark? {
        guard let bytes = try folder.read(fileName) else { return nil }
        let path = folder.path + "/" + fileName
        guard let mark = try? JSONDecoder().decode(AnnexMark.self, from: Data(bytes)), !mark.id.isEmpty else {
            throw StoreError(.exists, path: path, detail: "it is not what a Weir has written")
        }
        guard mark.format == Self.format else {
            throw StoreError(.newer, path: path, detail: "a newer Weir has written it (format \(mark.format))")
        }
        return mark
    }

    /// Writes it, so that it is there after a loss of power too.
    func write(in folder: Directory) throws(StoreError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        guard let text = try? encoder.encode(self) else { throw StoreError(.io, path: folder.path) }
        try folder.replace(Self.fileName, by: Array(text) + Array("\n".utf8))
    }
}
