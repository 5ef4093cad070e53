import TestSupport
import Testing

@testable import WeirAPI

/// The files of the state directory as a later build must read them: `fixtures/golden/state`.
@Suite struct GoldenStateTests {
    @Test func thePhonesAndTheDaemon() throws {
        var phone = PhoneRecord(
            name: "Anna's phone", digest: String(repeating: "0f", count: 32), created: 1_790_000_000)
        phone.seen = 1_790_000_600
        let other = PhoneRecord(name: "TV", digest: String(repeating: "a1", count: 32), created: 1_790_000_100)
        let daemon = DaemonRecord(
            version: "0.1.0", process: 4711, started: 1_790_000_000, idleExit: 600, store: "/home/u/.local/share/weir")
        let texts = [
            "phones": String(decoding: try API.encode([phone, other]), as: UTF8.self),
            "daemon": String(decoding: try API.encode(daemon), as: UTF8.self),
        ]
        #expect(try GoldenFiles("state").differences(from: texts) == [])
    }
}
