import Glibc

/// A complete resource in memory, gathered by a `GrowingFile`, that is to become a piece.
///
/// Sendable: it never changes. Another thread may write it while the first reads its bytes.
public struct GatheredFile: Sendable {
    private let bytes: [UInt8]
    private let temporary: Directory
    private let name: String

    init(_ bytes: [UInt8], in temporary: Directory, named name: String) {
        (self.bytes, self.temporary, self.name) = (bytes, temporary, name)
    }

    /// The length in bytes.
    public var count: Int { bytes.count }

    /// Writes the piece `target` in `folder`: all of it or nothing, even after a crash.
    ///
    /// - Throws: `StoreError` if it cannot be written; no file is left, and it may be tried again.
    func commit(to folder: PieceDirectory, as target: String) throws(StoreError) {
        var descriptor: Int32 = -1
        folder.willAdd(target)
        do throws(StoreError) {
            do throws(StoreError) {
                try temporary.write(bytes, through: name, to: folder.directory, as: target) { descriptor = dup($0) }
            } catch  where error.errno == EXDEV {
                // The bundle was moved to another volume meanwhile.
                guard let other = folder.temporary else { throw error }
                if descriptor >= 0 { close(descriptor) }
                try other.write(bytes, through: name, to: folder.directory, as: target) { descriptor = dup($0) }
            }
        } catch {
            folder.didFail(target)
            if descriptor >= 0 { close(descriptor) }
            throw error
        }
        folder.didAdd(target, size: Int64(count), descriptor: descriptor >= 0 ? descriptor : nil)
    }
}
