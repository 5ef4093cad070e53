import Foundation
import TestSupport
import Testing

@testable import Fetching
@testable import Store

@Suite("S31: verified pieces") struct VerifiedPiecesTests {
    private let folder: TemporaryFolder
    private let identity: FileIdentity

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(Data("piece".utf8), to: "0.ts")
        identity = try #require(try Directory.open(path: folder.path).identity(of: "0.ts"))
    }

    @Test("are so for a week", arguments: [(0, true), (604_799, true), (604_800, false), (2_000_000, false)])
    func lastAWeek(later: Int64, isVerified: Bool) {
        var pieces = VerifiedPieces()
        #expect(!pieces.contains("0.ts", at: 5))
        pieces.insert("0.ts", identity, at: 5)
        #expect(pieces.identity(of: "0.ts") == identity)
        #expect(pieces.contains("0.ts", at: 5 + later) == isVerified)
        #expect(!pieces.contains("1.ts", at: 5))
        pieces.remove("0.ts")
        #expect(!pieces.contains("0.ts", at: 5) && pieces.count == 0)
    }

    @Test("that could not be read are tried again after a minute")
    func excused() {
        var pieces = VerifiedPieces()
        pieces.excuse("0.ts", at: 1000)
        #expect(pieces.contains("0.ts", at: 1059) && !pieces.contains("0.ts", at: 1060))
    }
}
