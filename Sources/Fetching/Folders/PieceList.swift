package import Store

/// The pieces of a folder by file name, and the bytes that they take on the disk. Pure.
///
/// Pieces of the same bytes, such as a segment that a playlist lists twice, are names of one file: its bytes are counted once.
package struct PieceList: Sendable {
    /// A file with several names, of which some are in the folder.
    private struct SharedFile {
        let size: Int64
        var names = 0
    }

    /// The lengths in bytes, by file name.
    package private(set) var sizes = PieceTable<Int64>()
    /// The files of names that are not the only ones.
    private var files = PieceTable<FileIdentity.File>()
    private var shared: [FileIdentity.File: SharedFile] = [:]
    /// The bytes of the files with one name.
    private var ownBytes: Int64 = 0
    /// The bytes of the others, each counted once.
    private var sharedBytes: Int64 = 0

    package init() {}

    /// The bytes of all files of the folder, each counted once.
    package var bytes: Int64 { ownBytes + sharedBytes }
    /// The bytes of all names: what a program reads, or copies, that does that name by name.
    package var bytesByName: Int64 { sizes.values.reduce(0, +) }

    /// The file of a piece that has further names; nil for one with a single name.
    package func file(of name: String) -> FileIdentity.File? { files[name] }

    /// Adds a piece, or replaces one.
    /// - Parameter file: the file, if it has further names; nil for one with a single name.
    package mutating func insert(_ name: String, size: Int64, sharing file: FileIdentity.File? = nil) {
        remove(name)
        sizes[name] = size
        guard let file else {
            ownBytes += size
            return
        }
        files[name] = file
        if shared[file] == nil {
            sharedBytes += size
        }
        shared[file, default: SharedFile(size: size)].names += 1
    }

    /// Removes a piece; returns false if there is none.
    @discardableResult package mutating func remove(_ name: String) -> Bool {
        guard let size = sizes.removeValue(forKey: name) else { return false }
        guard let file = files.removeValue(forKey: name), var left = shared[file] else {
            ownBytes -= size
            return true
        }
        left.names -= 1
        if left.names == 0 {
            shared[file] = nil
            sharedBytes -= left.size
        } else {
            shared[file] = left
        }
        return true
    }

    /// Records that a piece has got another name, perhaps in another folder.
    package mutating func share(_ name: String, as file: FileIdentity.File) {
        guard let size = sizes[name], files[name] != file else { return }
        insert(name, size: size, sharing: file)
    }

    /// The bytes that several folders take together: a file that is in two of them is counted once.
    package static func bytes(of lists: [PieceList]) -> Int64 {
        var sum: Int64 = 0
        var seen: Set<FileIdentity.File> = []
        for list in lists {
            sum += list.ownBytes
            for (file, known) in list.shared where seen.insert(file).inserted {
                sum += known.size
            }
        }
        return sum
    }
}
