import HTTPMessage
import Testing

@testable import Origin

struct HTTPVersionsTests {
    private let now = ContinuousClock.now

    private func origin(_ text: String = "https://a/") throws -> WebURL.Origin { try WebURL(text).origin }

    @Test func anUnknownOriginIsOfferedHTTP2OverTLSAlone() throws {
        let versions = HTTPVersions()
        #expect(versions.mayMultiplex(try origin(), now: now))
        #expect(versions.mayShare(try origin(), now: now))
        #expect(!versions.isMultiplexed(try origin()))
        #expect(!versions.mayMultiplex(try origin("http://a/"), now: now))
    }

    @Test func repliesAreRemembered() throws {
        var versions = HTTPVersions()
        versions.recordReply(try origin(), isHTTP2: true, now: now)
        #expect(versions.isMultiplexed(try origin()))
        #expect(!versions.isMultiplexed(try origin("https://a:8443/")))
        versions.recordReply(try origin(), isHTTP2: false, now: now)
        #expect(!versions.isMultiplexed(try origin()))
        #expect(versions.mayMultiplex(try origin(), now: now))
        #expect(!versions.mayShare(try origin(), now: now))
    }

    @Test(arguments: [HTTPVersions.Fault.framing, .http1Required])
    func aFaultOfTheConnectionLeadsBackToHTTP1ForAnHour(fault: HTTPVersions.Fault) throws {
        var versions = HTTPVersions()
        versions.record(fault, of: try origin(), now: now)
        #expect(!versions.mayMultiplex(try origin(), now: now + .seconds(3599)))
        // A stream that began before the fault.
        versions.recordReply(try origin(), isHTTP2: true, now: now)
        #expect(!versions.isMultiplexed(try origin()))
        #expect(versions.mayMultiplex(try origin(), now: now + .seconds(3600)))
    }

    @Test func fourFailedStreamsInARowLeadBackToHTTP1() throws {
        var versions = HTTPVersions()
        versions.record(.stream, of: try origin(), now: now)
        #expect(versions.mayMultiplex(try origin(), now: now))
        for _ in 1...2 {
            versions.recordReply(try origin(), isHTTP2: true, now: now)
            for _ in 1...3 {
                versions.record(.stream, of: try origin(), now: now)
            }
            #expect(versions.isMultiplexed(try origin()))
        }
        versions.record(.stream, of: try origin(), now: now)
        #expect(!versions.mayMultiplex(try origin(), now: now))
    }
}
