import Glibc

/// A text file to which blocks are appended. If the process ends at any instant, the file holds complete blocks, and at most
/// a part of the last one. New blocks are synced together with the pieces of the folder.
///
/// Confined to the thread that made it. Owns its descriptor.
public final class AppendedFile {
    /// The length in bytes.
    public private(set) var length: Int64
    private let descriptor: Int32
    private let folder: PieceDirectory
    private let name: String
    private var path: String { folder.directory.path + "/" + name }

    /// Opens the file `name` of a folder, creates it if it is missing, and cuts it to `length` bytes.
    public init(in folder: PieceDirectory, named name: String, length: Int64) throws(StoreError) {
        let opened = try folder.directory.open(name, flags: O_WRONLY | O_CREAT)
        guard ftruncate(opened, off_t(length)) == 0 else {
            let error = StoreError(path: folder.directory.path + "/" + name)
            close(opened)  // `deinit` does not run for an incomplete object.
            throw error
        }
        self.folder = folder
        self.name = name
        descriptor = opened
        self.length = length
    }

    deinit { close(descriptor) }

    /// Appends a block: all of it, or nothing on an error.
    public func append(_ block: [UInt8]) throws(StoreError) {
        var done = 0
        while done < block.count {
            let count = block.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress! + done, $0.count - done, off_t(length) + off_t(done))
            }
            if count < 0, errno == EINTR {
                continue
            }
            guard count > 0 else {
                let error = StoreError.incomplete(count, path: path)
                ftruncate(descriptor, off_t(length))
                throw error
            }
            done += count
        }
        length += Int64(block.count)
        let copy = dup(descriptor)
        folder.didGrow(name, descriptor: copy.openDescriptor)
    }
}
