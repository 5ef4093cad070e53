import Foundation

/// The text of `moved.json`, which says where a store went: left in its old folder, so that no empty store is begun there.
struct StoreMoveNote: Codable, Equatable {
    /// The file's name in the old folder.
    static let fileName = "moved.json"
    /// The same in the new folder until the old one says so: then `path` is that of the old.
    static let arrivedName = "arrived.json"

    /// The path of the other folder.
    let path: String

    /// The note in a folder; nil where there is none that can be read.
    static func read(_ name: String = fileName, in folder: Directory) -> StoreMoveNote? {
        guard let bytes = try? folder.read(name) else { return nil }
        return try? JSONDecoder().decode(StoreMoveNote.self, from: Data(bytes))
    }

    /// Writes it, so that it is there after a loss of power too.
    func write(_ name: String = fileName, in folder: Directory) throws(StoreError) {
        guard let text = try? JSONEncoder().encode(self) else { throw StoreError(.io, path: folder.path) }
        try folder.replace(name, by: Array(text) + Array("\n".utf8))
    }
}
