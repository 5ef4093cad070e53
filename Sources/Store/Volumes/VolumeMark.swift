import Foundation

/// The text of `volume.json`, which identifies a volume.
///
/// If the volume's disk is not mounted, its path is an empty folder or another disk. Without the mark, neither is written to.
struct VolumeMark: Codable {
    static let fileName = "volume.json"
    private static let format = 1

    let format: Int
    /// 32 random hexadecimal digits.
    let id: String
    /// A sentence for a person who finds the folder.
    let note: String

    init() {
        format = Self.format
        id = (0..<2).map { _ in
            let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
        note = "This folder holds bundles of a Weir store, moved here by \"weir move\". Only that store can use them."
    }

    /// Reads the mark of a folder; nil if it has none.
    ///
    /// - Throws: `newer` for a mark of a newer Weir, `exists` for a file that is not a mark.
    static func read(in folder: Directory) throws(StoreError) -> VolumeMark? {
        guard let bytes = try folder.read(fileName) else { return nil }
        let path = folder.path + "/" + fileName
        guard let mark = try? JSONDecoder().decode(VolumeMark.self, from: Data(bytes)), !mark.id.isEmpty else {
            throw StoreError(.exists, path: path, detail: "it is not a file of Weir")
        }
        guard mark.format == Self.format else {
            throw StoreError(.newer, path: path, detail: "a newer Weir has written it (format \(mark.format))")
        }
        return mark
    }

    func write(in folder: Directory) throws(StoreError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        guard let text = try? encoder.encode(self) else { throw StoreError(.io, path: folder.path) }
        try folder.replace(Self.fileName, by: Array(text) + Array("\n".utf8))
    }
}
