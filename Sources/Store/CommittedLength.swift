import CLinux
import Glibc

/// How long a file was when it became a piece: kept with it, so that what is cut behind our back shows.
///
/// An extended attribute: it goes wherever the file is moved, and costs no transaction. A file system that has none
/// keeps nothing, and then nothing is known.
enum CommittedLength {
    private static let name = "user.weir.length"

    /// Notes the length of a file that is about to become a piece.
    static func note(_ length: Int64, on descriptor: Int32) {
        let digits = Array(String(length).utf8)
        _ = weir_fsetxattr(descriptor, name, digits, digits.count)
    }

    /// What was noted; nil where nothing was.
    static func read(_ descriptor: Int32) -> Int64? {
        var digits = [UInt8](repeating: 0, count: 20)
        let count = weir_fgetxattr(descriptor, name, &digits, digits.count)
        guard count > 0 else { return nil }
        return Int64(String(decoding: digits.prefix(count), as: UTF8.self))
    }
}

extension Directory {
    /// What a file is compared with what it was when it became a piece.
    public enum Soundness: Sendable {
        /// It has its length.
        case sound
        /// It is not there, or no file that can be read.
        case absent
        /// It has another length.
        case cut
    }

    /// Whether a piece is as it was committed. A few system calls, which may have to wait for the disk.
    ///
    /// - Parameter length: what it should be where nothing was noted with it, in bytes.
    public func soundness(of piece: String, length: Int64) -> Soundness {
        guard let descriptor = openIfPresent(piece) else { return .absent }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return .absent }
        return Int64(status.st_size) == CommittedLength.read(descriptor) ?? length ? .sound : .cut
    }
}
