import Foundation

/// Damage to files.
public enum FileDamage {
    /// Changes one bit of a file, which stays the same file and as long as it was.
    ///
    /// - Parameter offset: of the byte; nil for the middle.
    public static func flipBit(of path: String, at offset: Int? = nil) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        let place = try offset.map { UInt64($0) } ?? handle.seekToEnd() / 2
        try handle.seek(toOffset: place)
        guard let byte = try handle.read(upToCount: 1)?.first else { throw CocoaError(.fileReadTooLarge) }
        try handle.seek(toOffset: place)
        try handle.write(contentsOf: Data([byte ^ 4]))
        try handle.close()
    }
}
