import Glibc

/// A whole file in memory that is to become a piece, and the name that it has on the way: what `GrowingFile` gathered.
///
/// Sendable: it never changes, and may be written by another thread while its bytes are read by the first.
public struct GatheredFile: Sendable {
    private let bytes: [UInt8]
    private let temporary: Directory
    private let name: String

    init(_ bytes: [UInt8], in temporary: Directory, named name: String) {
        (self.bytes, self.temporary, self.name) = (bytes, temporary, name)
    }

    /// Its length in bytes.
    public var count: Int { bytes.count }

    /// Becomes the piece `target` in `folder`, whole or not at all, after a crash too.
    ///
    /// - Throws: `StoreError` when the disk does not take it; nothing is left of it then, and it may be tried again.
    func commit(to folder: PieceDirectory, as target: String) throws(StoreError) {
        var descriptor: Int32 = -1
        folder.coming(target)
        do throws(StoreError) {
            do throws(StoreError) {
                try temporary.write(bytes, through: name, to: folder.directory, as: target) { descriptor = dup($0) }
            } catch  where error.errno == EXDEV {
                // The bundle was moved to another disk meanwhile.
                guard let other = folder.temporary else { throw error }
                if descriptor >= 0 { close(descriptor) }
                try other.write(bytes, through: name, to: folder.directory, as: target) { descriptor = dup($0) }
            }
        } catch {
            folder.failed(target)
            if descriptor >= 0 { close(descriptor) }
            throw error
        }
        folder.came(target, size: Int64(count), descriptor: descriptor >= 0 ? descriptor : nil)
    }
}
