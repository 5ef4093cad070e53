import Foundation
import TestSupport

/// Reads files of the committed presentations.
enum Fixture {
    /// The bytes of a file below `fixtures/media`.
    static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: Repository.path("fixtures/media/" + path))))
    }
}
