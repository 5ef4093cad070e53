/// The header block of a member of a ustar archive. Pure.
struct TarHeader {
    /// The size of a block. Every header and file fills whole blocks.
    static let block = 512
    let bytes: [UInt8]

    /// Makes the header of a file; nil if its path is too long.
    init?(file path: String, size: Int64, time: Int64, isPrivate: Bool = false) {
        let mode: Int64 = isPrivate ? 0o600 : 0o644
        self.init(path, mode: mode, size: size, time: time, type: UInt8(ascii: "0"))
    }

    /// Makes the header of a folder; nil if its path is too long.
    init?(folder path: String, time: Int64, isPrivate: Bool = false) {
        let mode: Int64 = isPrivate ? 0o700 : 0o755
        self.init(path + "/", mode: mode, size: 0, time: time, type: UInt8(ascii: "5"))
    }

    private init?(_ path: String, mode: Int64, size: Int64, time: Int64, type: UInt8) {
        guard let (prefix, name) = Self.split(path), size >> 33 == 0 else { return nil }
        var bytes = Self.field(name, 100)
        // Owner and group 0: the user who unpacks it.
        for (number, width) in [(mode, 8), (0, 8), (0, 8), (size, 12), (time, 12)] {
            bytes += Self.octal(number, width)
        }
        // The checksum is computed with blanks in its own field.
        bytes += [UInt8](repeating: UInt8(ascii: " "), count: 8)
        bytes += [type] + Self.field("", 100) + Array("ustar\0".utf8) + Array("00".utf8)
        bytes += Self.field("", 32) + Self.field("", 32) + Self.octal(0, 8) + Self.octal(0, 8) + Self.field(prefix, 155)
        bytes += [UInt8](repeating: 0, count: Self.block - bytes.count)
        let sum = bytes.reduce(Int64(0)) { $0 + Int64($1) }
        bytes.replaceSubrange(148..<156, with: Self.octal(sum, 7) + [UInt8(ascii: " ")])
        self.bytes = bytes
    }

    /// Returns the zeros that fill the last block of a file.
    static func padding(behind size: Int64) -> [UInt8] {
        [UInt8](repeating: 0, count: (block - Int(size % Int64(block))) % block)
    }

    /// Splits a long path at one of its slashes, which is then in neither part.
    private static func split(_ path: String) -> (prefix: String, name: String)? {
        if path.utf8.count <= 100 {
            return ("", path)
        }
        for slash in path.indices where path[slash] == "/" && path.index(after: slash) < path.endIndex {
            let prefix = path[..<slash]
            let name = path[path.index(after: slash)...]
            if prefix.utf8.count <= 155, name.utf8.count <= 100 {
                return (String(prefix), String(name))
            }
        }
        return nil
    }

    private static func field(_ text: String, _ width: Int) -> [UInt8] {
        Array(text.utf8) + [UInt8](repeating: 0, count: width - text.utf8.count)
    }

    /// Formats octal digits and a NUL; a number that is too large loses its first digits.
    private static func octal(_ number: Int64, _ width: Int) -> [UInt8] {
        let digits = String(number, radix: 8).utf8.suffix(width - 1)
        return [UInt8](repeating: UInt8(ascii: "0"), count: width - 1 - digits.count) + digits + [0]
    }
}
