import HTTPMessage
import Testing

@testable import Origin

struct ConnectionMemoryTests {
    typealias Use = ConnectionMemory.Use

    private static let first = SocketAddress(literal: "192.0.2.1", port: 443)
    private static let second = SocketAddress(literal: "192.0.2.2", port: 443)
    private static let lost = TransferState.Outcome.failed(.init(code: .timedOut))
    private let start = ContinuousClock.now

    private static func origin() throws -> WebURL.Origin { try WebURL("https://h/").origin }

    private static func use(
        _ connected: SocketAddress?, of addresses: [SocketAddress?], isUsed: Bool = false, lacksWay: Bool = false
    ) throws -> Use {
        Use(
            origin: try origin(), connected: connected, addresses: addresses.compactMap(\.self),
            isOnUsedConnection: isUsed, failing: [connected].compactMap(\.self), lacksWay: lacksWay)
    }

    private func terms(
        _ memory: ConnectionMemory, after seconds: Int = 0, isPlaylist: Bool = false, mayOfferHTTP2: Bool = true,
        silence: Duration? = nil
    ) throws -> ConnectionMemory.Terms {
        memory.terms(
            at: try Self.origin(), among: [Self.first, Self.second].compactMap(\.self), isPlaylist: isPlaylist,
            mayOfferHTTP2: mayOfferHTTP2, now: start + .seconds(seconds), silence: silence)
    }

    struct End: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var outcome: TransferState.Outcome
        var connected: SocketAddress?
        var addresses: [SocketAddress?]
        var lacksWay = false
        /// True if the second address comes first afterwards.
        var isSecondFirst = false
        /// True if earlier connections are not used any more.
        var isStale = false
        /// True if the name is resolved anew.
        var isNameInDoubt = false
    }

    static let ends = [
        End(testDescription: "success", outcome: .finished, connected: first, addresses: [first, second]),
        End(testDescription: "a fault of the reply", outcome: .stopped, connected: first, addresses: [first, second]),
        End(
            testDescription: "an error that is not the connection's",
            outcome: .failed(.init(code: .malformedReply)), connected: first, addresses: [first, second]),
        End(
            testDescription: "silence of one address of two", outcome: lost, connected: first,
            addresses: [first, second], isSecondFirst: true, isStale: true, isNameInDoubt: true),
        End(
            testDescription: "silence of the only address", outcome: lost, connected: first, addresses: [first],
            isSecondFirst: true, isNameInDoubt: true),
        End(
            testDescription: "a body that is cut", outcome: .failed(.init(code: .cutShort)),
            connected: first, addresses: [first, second], isSecondFirst: true, isStale: true, isNameInDoubt: true),
        End(testDescription: "silence of a proxy", outcome: lost, connected: nil, addresses: [], isNameInDoubt: true),
        End(
            testDescription: "an edge without a way, beside another one", outcome: .finished,
            connected: first, addresses: [first, second], lacksWay: true, isSecondFirst: true, isStale: true),
        End(
            testDescription: "an edge without a way, the only one", outcome: .finished,
            connected: first, addresses: [first], lacksWay: true),
    ]

    @Test("the end of an attempt decides how the next one connects", arguments: ends)
    func end(end: End) throws {
        var memory = ConnectionMemory()
        let use = try Self.use(end.connected, of: end.addresses, lacksWay: end.lacksWay)
        #expect(memory.record(end.outcome, of: use, now: start) == end.isNameInDoubt)
        let next = try terms(memory)
        #expect((next.addresses.first == Self.second) == end.isSecondFirst)
        #expect((next.maximumAge == 0) == end.isStale)
    }

    @Test func successOrAnotherNetworkClearsAFailedAddress() throws {
        for isSwitched in [false, true] {
            var memory = ConnectionMemory()
            memory.recordLoss(of: [Self.first].compactMap(\.self), now: start)
            #expect(try terms(memory).addresses.first == Self.second)
            if isSwitched {
                memory.recordSwitch()
            } else {
                _ = try memory.record(.finished, of: Self.use(Self.first, of: [Self.first]), now: start)
            }
            #expect(try terms(memory).addresses.first == Self.first)
        }
    }

    @Test func silentConnectionsAreDoubted() throws {
        var memory = ConnectionMemory()
        let used = try Self.use(Self.first, of: [Self.first], isUsed: true)
        #expect(
            try memory.doubt(about: Self.use(Self.first, of: [Self.first, Self.second]), now: start) == .otherAddress)
        #expect(try memory.doubt(about: Self.use(Self.first, of: [Self.first]), now: start) == nil)
        #expect(memory.doubt(about: used, now: start) == .usedConnection)
        #expect(try terms(memory, silence: .seconds(3.5)).maximumAge == 3)
        // Its connections may be silent for long, and live.
        try memory.recordSlowReply(from: Self.origin())
        #expect(memory.doubt(about: used, now: start) == nil)
        #expect(try terms(memory, silence: .seconds(3.5)).maximumAge == nil)
    }

    @Test func theShorterAgeCounts() throws {
        var memory = ConnectionMemory()
        try memory.recordTimeout(of: Self.origin(), now: start)
        #expect(try terms(memory, after: 20).maximumAge == 20)
        #expect(try terms(memory, after: 20, silence: .seconds(4)).maximumAge == 4)
        #expect(try terms(memory, after: 2, silence: .seconds(4)).maximumAge == 2)
    }

    @Test func streamsOfALostConnectionShareTheNextOne() throws {
        var memory = ConnectionMemory()
        let origin = try Self.origin()
        let news = [true, true, false].map { memory.recordVersion(of: origin, isHTTP2: $0, now: start) }
        #expect(news == [true, false, false])
        #expect(!memory.isMultiplexed(origin))
        _ = memory.recordVersion(of: origin, isHTTP2: true, now: start)
        #expect(try memory.isMultiplexed(Self.origin()))
        try memory.recordTimeout(of: Self.origin(), now: start)
        let next = try terms(memory)
        #expect(next.maximumAge == 1)
        #expect(next.isMultiplexed && next.mayShare && next.offersHTTP2)
    }

    @Test func http2IsOfferedWhereNothingSpeaksAgainstIt() throws {
        var memory = ConnectionMemory()
        #expect(try terms(memory).offersHTTP2)
        #expect(try !terms(memory, mayOfferHTTP2: false).offersHTTP2)
        try memory.recordLengthless(Self.origin(), isPlaylist: true)
        #expect(try terms(memory).offersHTTP2)
        #expect(try !terms(memory, isPlaylist: true).offersHTTP2)
        try memory.record(.framing, of: Self.origin(), now: start)
        #expect(try !terms(memory).offersHTTP2)
        #expect(try terms(memory, after: 3600).offersHTTP2)
    }

    @Test func digestIsUsedWhereItWasAskedFor() throws {
        var memory = ConnectionMemory()
        #expect(try !memory.usesDigest(Self.origin()))
        try memory.recordDigest(of: Self.origin())
        #expect(try memory.usesDigest(Self.origin()))
    }
}
