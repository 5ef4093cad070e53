import HTTPMessage
import Testing

@testable import Origin

/// Readers of a transfer come and go.
struct TransferUrgencyTests {
    enum Event {
        /// `moves` if its rank in the queue may have changed.
        case raise(ignoresAbsence: Bool = false, moves: Bool)
        case lower(isAbandoned: Bool = false, moves: Bool)
        case reclaim
        case holdBehind(Bool, moves: Bool)
        case isReadWhileFetched
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var begins = OriginRequest.Priority.playback
        var events: [Event]
        var priority: OriginRequest.Priority
        var isTrailing = false
        var mayTrail = false
        var isAbandoned = false
        var isInsisting = false
        /// Whom it waits for, without and with a policy of its own.
        var waiters: [GiveUpRule.Waiter]
    }

    static let cases = [
        Case(
            testDescription: "a download", begins: .background, events: [], priority: .background,
            waiters: [.anyone, .anyone]),
        Case(
            testDescription: "a player with an alternative", events: [], priority: .playback,
            waiters: [.playerOnceBegun, .anyone]),
        Case(
            testDescription: "a player joins a download", begins: .background, events: [.raise(moves: true)],
            priority: .playback, waiters: [.playerOnceBegun, .anyone]),
        Case(
            testDescription: "a second player without an alternative joins",
            events: [.raise(ignoresAbsence: true, moves: false), .raise(moves: false)], priority: .playback,
            isInsisting: true, waiters: [.player, .anyone]),
        Case(
            testDescription: "a player reads what arrives", events: [.isReadWhileFetched], priority: .playback,
            isInsisting: true, waiters: [.playerOnceBegun, .playerOnceBegun]),
        Case(
            testDescription: "the player leaves it to the download", events: [.lower(moves: true)],
            priority: .background, waiters: [.anyone, .anyone]),
        Case(
            testDescription: "the last reader leaves, and another one comes",
            events: [.lower(isAbandoned: true, moves: true), .lower(isAbandoned: true, moves: false), .reclaim],
            priority: .background, waiters: [.anyone, .anyone]),
        Case(
            testDescription: "the last reader leaves", events: [.lower(isAbandoned: true, moves: true)],
            priority: .background, isAbandoned: true, waiters: [.anyone, .anyone]),
        Case(
            testDescription: "a player comes back to an abandoned transfer",
            events: [.lower(isAbandoned: true, moves: true), .raise(moves: true)], priority: .playback,
            waiters: [.playerOnceBegun, .anyone]),
        Case(
            testDescription: "it yields to another one of its player",
            events: [.holdBehind(true, moves: true), .holdBehind(true, moves: false)], priority: .background,
            isTrailing: true,
            mayTrail: true, waiters: [.playerOnceBegun, .anyone]),
        Case(
            testDescription: "its turn has come",
            events: [.holdBehind(true, moves: true), .holdBehind(false, moves: true)],
            priority: .playback, mayTrail: true, waiters: [.playerOnceBegun, .anyone]),
        Case(
            testDescription: "a player leaves the transfer that yields",
            events: [.holdBehind(true, moves: true), .lower(moves: false), .holdBehind(false, moves: false)],
            priority: .background, mayTrail: true, waiters: [.anyone, .anyone]),
        Case(
            testDescription: "a download's transfer does not yield", begins: .background,
            events: [.holdBehind(true, moves: false)], priority: .background, waiters: [.anyone, .anyone]),
    ]

    @Test(arguments: cases)
    func readersDecide(transfer: Case) throws {
        var request = OriginRequest(try WebURL("http://a/1"))
        request.priority = transfer.begins
        var urgency = TransferUrgency(request)
        for event in transfer.events {
            switch event {
            case .raise(let ignoresAbsence, let moves):
                #expect(urgency.raise(to: .playback, ignoresAbsence: ignoresAbsence) == moves)
            case .lower(let isAbandoned, let moves): #expect(urgency.lower(isAbandoned: isAbandoned) == moves)
            case .reclaim: urgency.reclaim()
            case .holdBehind(let trails, let moves): #expect(urgency.holdBehind(trails) == moves)
            case .isReadWhileFetched: urgency.isReadWhileFetched = true
            }
        }
        #expect(urgency.priority == transfer.priority)
        #expect(urgency.isTrailing == transfer.isTrailing)
        #expect(urgency.mayTrail == transfer.mayTrail)
        #expect(urgency.isAbandoned == transfer.isAbandoned)
        #expect(urgency.isInsisting == transfer.isInsisting)
        #expect([false, true].map { urgency.waiter(hasOwnPolicy: $0) } == transfer.waiters)
        #expect(urgency.isBackground == (transfer.priority == .background && !transfer.isTrailing))
    }
}
