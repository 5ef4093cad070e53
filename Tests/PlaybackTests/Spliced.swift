import SegmentFormat
import TestSupport

/// Spliced segments of the fixtures, as players get them in a playlist with pieces of several renditions.
enum Spliced {
    /// The bytes of a fixture's file.
    static func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Repository.fixture("/" + path)) }

    /// A transport stream segment as it is sent among substitutes.
    static func transport(_ path: String) throws -> [UInt8] {
        let bytes = try bytes(path)
        return try TransportStream(ByteSource(bytes)).splice().joined(with: bytes)
    }

    /// A fragment from one folder of a fixture, as it is sent with the initialization section of another folder.
    static func fragment(_ fixture: String, _ number: Int, of folder: String, behind own: String) throws -> [UInt8] {
        let section = { (folder: String) in try InitializationSection(Self.bytes("\(fixture)/\(folder)/init.mp4")) }
        let bytes = try bytes("\(fixture)/\(folder)/\(number).m4s")
        return try SplicePair(of: try section(folder), behind: try section(own)).splice(ByteSource(bytes))
            .joined(with: bytes)
    }
}
