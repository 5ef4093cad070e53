import Glibc

/// A file that only grows, block by block: after the process's end at any instant it holds whole blocks, and at most
/// the beginning of the last one. What it has grown by is synced together with the pieces of its folder.
///
/// Confined to the thread that made it. Owns its descriptor.
public final class AppendedFile {
    /// Its length in bytes.
    public private(set) var length: Int64
    private let descriptor: Int32
    private let folder: PieceDirectory
    private let name: String
    private var path: String { folder.directory.path + "/" + name }

    /// Opens the file `name` of a folder, makes it if it is not there, and cuts off what stands behind `length`.
    public init(in folder: PieceDirectory, named name: String, length: Int64) throws(StoreError) {
        let opened = try folder.directory.open(name, flags: O_WRONLY | O_CREAT)
        guard ftruncate(opened, off_t(length)) == 0 else {
            let error = StoreError(path: folder.directory.path + "/" + name)
            close(opened)  // By hand: `deinit` closes only what was stored.
            throw error
        }
        (self.folder, self.name, descriptor, self.length) = (folder, name, opened, length)
    }

    deinit { close(descriptor) }

    /// Writes a block at the end: all of it, or on an error none.
    public func append(_ block: [UInt8]) throws(StoreError) {
        var done = 0
        while done < block.count {
            let count = block.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress! + done, $0.count - done, off_t(length) + off_t(done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let error = count == 0 ? StoreError(.io, path: path) : StoreError(path: path)
                ftruncate(descriptor, off_t(length))
                throw error
            }
            done += count
        }
        length += Int64(block.count)
        let kept = dup(descriptor)
        folder.grew(name, descriptor: kept >= 0 ? kept : nil)
    }
}
