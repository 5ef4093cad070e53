import Control
import Orders
import Testing
import WeirAPI

@testable import weir

/// The output and exit code of `weir verify`.
@Suite struct VerificationTextTests {
    private func part(
        _ id: String, holes: [API.Verification.Hole] = [], mismatches: [API.Verification.Mismatch] = []
    ) -> API.Verification.Part {
        var part = API.Verification.Part(
            id: id, pieces: 4, bytes: 2048, loaded: id == "keys" ? [] : [.init(start: 0, end: 8)])
        part.holes = holes
        part.mismatches = mismatches
        part.remaining = holes.reduce(0) { $0 + ($1.isSelected ? $1.count : 0) } + mismatches.count { !$0.isRepaired }
        return part
    }

    private func verification(found: Int, _ parts: API.Verification.Part...) -> API.Verification {
        var verification = API.Verification(asset: "sintel", state: .complete)
        verification.bytes = 4096
        verification.totalBytes = 4096
        verification.found = found
        verification.remaining = parts.reduce(0) { $0 + $1.remaining }
        verification.parts = parts
        return verification
    }

    @Test func anUndamagedAssetGetsALineAndATable() {
        let sound = verification(found: 0, part("video-720p"), part("keys"))
        #expect(
            VerificationText.lines(sound) == [
                "sintel  4.0 KB read, no damage", "RENDITION   PIECES  SIZE    STORED  MISSING  DAMAGED",
                "video-720p  4       2.0 KB  0:08    –        –", "keys        4       2.0 KB  –       –        –",
            ])
        #expect(VerificationText.failure(sound) == nil)
        #expect(VerificationText.event(sound) == ["sintel  verified: 4.0 KB read, no damage"])
    }

    @Test func damageIsShownByTime() {
        let damaged = verification(
            found: 4,
            part(
                "video-720p",
                holes: [
                    .init(time: .init(start: 10, end: 14), first: "5.ts", last: "6.ts", count: 2, isSelected: true),
                    .init(time: .init(start: 20, end: 22), first: "10.ts", last: "10.ts", count: 1, isSelected: false),
                ], mismatches: [.init(file: "4.ts", time: .init(start: 8, end: 10), fault: "length", isRepaired: false)]
            ),
            part("keys", mismatches: [.init(file: "0.key", time: nil, fault: "bytes", isRepaired: true)]))
        let lines = VerificationText.lines(damaged)
        #expect(lines[0] == "sintel  4.0 KB read, 2 damaged, 2 missing, 3 remaining")
        #expect(lines[2] == "video-720p  4       2.0 KB  0:08    3        1")
        #expect(
            lines[4...] == [
                "video-720p  0:08–0:10  4.ts  wrong length, set aside",
                "video-720p  0:10–0:14  5.ts to 6.ts  missing",
                "keys  0.key  wrong bytes, fetched again",
            ])
        let failure = VerificationText.failure(damaged)
        #expect(failure?.exitCode == 65 && failure?.next == "weir verify sintel --repair")
        #expect(failure?.message == "3 pieces of sintel are missing or damaged")
    }

    @Test func aFailureIsShownWithTheRemainingPieces() {
        var offline = verification(
            found: 1, part("keys", mismatches: [.init(file: "0.key", time: nil, fault: "bytes", isRepaired: false)]))
        offline.state = .failed
        offline.isRepair = true
        offline.error = .init(code: .offline, message: "sintel: Weir is offline")
        let failure = VerificationText.failure(offline)
        #expect(failure?.exitCode == 75)
        #expect(failure?.message == "sintel: Weir is offline; 1 piece of sintel remains to be fetched")
        offline.error = nil
        offline.state = .cancelled
        #expect(VerificationText.failure(offline)?.code == "cancelled")
    }

    @Test(arguments: [(80, true), (50, true), (20, false), (1, false)])
    func theProgressLineFits(columns: Int, hasBar: Bool) {
        var running = API.Verification(asset: "sintel", state: .running)
        running.bytes = 2048
        running.totalBytes = 4096
        let line = VerificationText.drawn(running, columns: columns, hasColor: false)
        #expect(line.hasPrefix("sintel   50%"))
        #expect(line.contains("█") == hasBar)
        #expect(!hasBar || line.count < columns && line.hasSuffix("2.0 KB of 4.0 KB"))
        running.isRepairing = true
        #expect(VerificationText.drawn(running, columns: columns, hasColor: true) == "sintel  fetching missing pieces")
    }
}
