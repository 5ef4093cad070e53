public import EventLoop
import Store

/// The pieces of one rendition, or the keys of an asset, on disk: which there are, and the way to them.
///
/// What is on disk counts; what is known here is read from the folder once, kept up with each commit, and mended when a
/// file turns out to be gone.
@LoopActor public final class PieceFolder {
    /// The folder's name in the bundle: the rendition's id, or `keys`.
    public let id: String

    /// Told after each piece that has come.
    var pieceCame: () -> Void = {}

    private let bundle: Bundle
    private var opened: Directory?
    private var known: [String: Int64]?
    /// Grows with each piece that comes or goes, so that what is derived from `sizes` can be kept.
    private(set) var changes = 0

    init(id: String, in bundle: Bundle) {
        self.id = id
        self.bundle = bundle
    }

    /// The pieces' lengths in bytes, by file name.
    public var sizes: [String: Int64] {
        if let known { return known }
        var sizes: [String: Int64] = [:]
        for entry in (try? directory(create: false).entries()) ?? [] where !entry.isDirectory {
            if PieceName(entry.name) != nil { sizes[entry.name] = entry.size }
        }
        known = sizes
        return sizes
    }

    /// The sum of the pieces' lengths.
    public var bytes: Int64 { sizes.values.reduce(0, +) }

    /// Whether the piece is there, as far as is known without asking the disk.
    public func contains(_ file: String) -> Bool { sizes[file] != nil }

    /// Reads the folder anew at the next occasion: before a plan is made, since files may have been deleted by others.
    public func reread() {
        known = nil
        changes += 1
    }

    /// Opens a piece for reading; nil if it is not there. The caller owns the descriptor.
    ///
    /// What others have put into the folder is seen after `reread()`.
    public func open(_ file: String) -> Int32? {
        if let known, known[file] == nil { return nil }
        guard let folder = try? directory(create: false), let descriptor = folder.openIfPresent(file) else {
            if known?.removeValue(forKey: file) != nil { changes += 1 }
            return nil
        }
        return descriptor
    }

    /// Makes a piece of a file that is whole.
    func commit(_ growing: GrowingFile, as file: String) throws(StoreError) {
        let size = growing.written
        _ = sizes  // Read the folder before the file is in it, or not at all.
        do throws(StoreError) {
            try growing.commit(to: directory(create: true), as: file)
        } catch  where error.code == .missing && growing.isKeepable && !bundle.isRemoved {
            // The folder was deleted behind our back, and all that was in it.
            close()
            try growing.commit(to: directory(create: true), as: file)
        }
        known?[file] = size
        changes += 1
        pieceCame()
    }

    /// Writes a playlist of the bundle beside the pieces.
    func write(_ bytes: [UInt8], as file: String) throws(StoreError) {
        try directory(create: true).write(bytes, as: file)
    }

    /// A text of the bundle beside the pieces; nil if it is not there. The folder is not kept open.
    func read(_ file: String) -> [UInt8]? {
        try? bundle.directory(create: false).subdirectory(id).read(file)
    }

    /// Opens a text beside the pieces for more of it.
    ///
    /// - Parameter length: what is known to be in it, in bytes; what stands behind is cut off.
    func append(to file: String, length: Int64) throws(StoreError) -> AppendedFile {
        try AppendedFile(in: directory(create: true), named: file, length: length)
    }

    /// Takes pieces away. Who is in the middle of one reads on to its end.
    func removePieces(where isMeant: (PieceName) -> Bool) {
        for file in sizes.keys where PieceName(file).map(isMeant) ?? false {
            do {
                try directory(create: false).remove(file)
                known?[file] = nil
            } catch {
                reread()
            }
        }
        changes += 1
    }

    private func close() {
        opened = nil
        bundle.close()
        reread()
    }

    private func directory(create: Bool) throws(StoreError) -> Directory {
        if let opened, !bundle.isRemoved { return opened }
        let directory = try bundle.directory(create: create).subdirectory(id, create: create)
        opened = directory
        return directory
    }
}
