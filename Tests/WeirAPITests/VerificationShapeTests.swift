import Orders
import Testing

@testable import WeirAPI

/// Compares the exact JSON of verifications, since scripts depend on it.
@Suite struct VerificationShapeTests {
    @Test func aVerificationAsJSON() throws {
        var verification = API.Verification(asset: "sintel", state: .complete)
        verification.bytes = 900
        verification.totalBytes = 1000
        verification.found = 3
        verification.remaining = 2
        verification.verified = 1_800_000_000
        var part = API.Verification.Part(
            id: "video-720p", pieces: 7, bytes: 900, loaded: [.init(start: 0, end: 4)])
        part.holes = [.init(time: .init(start: 4, end: 8), first: "2.ts", last: "3.ts", count: 2, isSelected: true)]
        part.mismatches = [.init(file: "9.ts", time: .init(start: 18, end: 20), fault: "bytes", isRepaired: true)]
        part.remaining = 2
        verification.parts = [part]
        let text = String(decoding: try API.encode(verification), as: UTF8.self)
        #expect(
            text == #"{"asset":"sintel","bytes":900,"found":3,"isRepair":false,"#
                + #""parts":[{"bytes":900,"holes":[{"count":2,"first":"2.ts","isSelected":true,"last":"3.ts","time":[4,8]}],"#
                + #""id":"video-720p","loaded":[[0,4]],"mismatches":[{"fault":"bytes","file":"9.ts","isRepaired":true,"time":[18,20]}],"#
                + #""pieces":7,"remaining":2}],"remaining":2,"#
                + #""state":"complete","totalBytes":1000,"verified":1800000000}"#)
        #expect(try API.decode(API.Verification.self, from: Array(text.utf8)) == verification)
        let event = API.Event.verification(verification)
        #expect(try API.Event(name: event.name, data: event.data) == event)
    }
}
