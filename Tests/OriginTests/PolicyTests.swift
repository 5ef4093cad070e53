import HTTPMessage
import Testing

@testable import Origin

struct HostQueueTests {
    private let start = ContinuousClock.now

    private func host(_ name: String) throws -> WebURL.Origin { try WebURL("http://\(name)").origin }

    @Test func eachHostHasItsOwnPlaces() throws {
        var queue = HostQueue(slots: 2, reserve: 0)
        for id in 1...4 {
            queue.enqueue(UInt64(id), priority: .playback, host: try host("a"))
        }
        queue.enqueue(5, priority: .playback, host: try host("b"))
        #expect(queue.grant(now: start) == [1, 2, 5])
        #expect(queue.grant(now: start) == [])
        queue.release(1)
        #expect(queue.grant(now: start) == [3])
    }

    /// An origin with HTTP/2: one more stream is possible at any time, but each takes its share of the connection.
    @Test func playbackDisplacesStreamsOfBackground() throws {
        var queue = HostQueue(slots: 3, reserve: 1, streams: 5)
        let shared = try host("a")
        let isMultiplexed = { (origin: WebURL.Origin) in origin == shared }
        for id in 1...8 {
            queue.enqueue(UInt64(id), priority: .background, host: try host("a"))
        }
        for id in 11...14 {
            queue.enqueue(UInt64(id), priority: .background, host: try host("b"))
        }
        #expect(queue.grant(now: start, isMultiplexed: isMultiplexed) == [1, 2, 3, 4, 5, 11, 12, 13])
        queue.enqueue(20, priority: .playback, host: try host("a"))
        #expect(queue.displace(now: start, isMultiplexed: isMultiplexed) == [3, 4, 5])
        #expect(queue.grant(now: start, isMultiplexed: isMultiplexed) == [20])
        queue.release(1)
        #expect(queue.grant(now: start, isMultiplexed: isMultiplexed) == [])
        queue.release(20)
        #expect(queue.grant(now: start, isMultiplexed: isMultiplexed) == [6])
        #expect(queue.grant(now: start + HostQueue.reserveLife, isMultiplexed: isMultiplexed) == [7, 8])
    }

    @Test func backgroundUsesEveryPlaceUntilPlaybackDisplacesItsYoungest() throws {
        var queue = HostQueue(slots: 3, reserve: 1)
        for id in 1...5 {
            queue.enqueue(UInt64(id), priority: .background, host: try host("a"))
        }
        #expect(queue.displace(now: start) == [])
        #expect(queue.grant(now: start) == [1, 2, 3])
        for id in 6...7 {
            queue.enqueue(UInt64(id), priority: .playback, host: try host("a"))
        }
        #expect(queue.displace(now: start) == [3])
        queue.enqueue(3, priority: .background, host: try host("a"))
        #expect(queue.grant(now: start) == [6])
        #expect(queue.displace(now: start) == [])
        queue.release(1)
        #expect(queue.grant(now: start) == [7])
        // One of two background places is free, and the displaced transfer comes before younger ones.
        queue.release(6)
        queue.release(7)
        #expect(queue.grant(now: start) == [3])
    }

    /// A body that cannot be continued would be sent twice.
    @Test func whatWouldLoseTooMuchKeepsItsPlace() throws {
        var queue = HostQueue(slots: 3, reserve: 2)
        for id in 1...3 {
            queue.enqueue(UInt64(id), priority: .background, host: try host("a"))
        }
        #expect(queue.grant(now: start) == [1, 2, 3])
        for id in 6...7 {
            queue.enqueue(UInt64(id), priority: .playback, host: try host("a"))
        }
        #expect(queue.displace(now: start, mayStop: { $0 == 2 }) == [2])
        #expect(queue.grant(now: start) == [6])
        #expect(queue.displace(now: start, mayStop: { $0 == 2 }) == [])
        queue.release(1)
        #expect(queue.grant(now: start) == [7])
    }

    @Test func placesStayReservedUntilPlaybackHasBeenIdle() throws {
        var queue = HostQueue(slots: 2, reserve: 1)
        for id in 1...5 {
            queue.enqueue(UInt64(id), priority: .background, host: try host("a"))
        }
        #expect(queue.grant(now: start) == [1, 2])
        queue.enqueue(6, priority: .playback, host: try host("a"))
        #expect(queue.displace(now: start) == [2])
        #expect(queue.grant(now: start) == [6])
        queue.release(6)
        let later = start + HostQueue.reserveLife * 0.75
        #expect(queue.grant(now: later) == [])
        queue.enqueue(7, priority: .playback, host: try host("a"))
        #expect(queue.displace(now: later) == [])
        #expect(queue.grant(now: later) == [7])
        queue.release(7)
        #expect(queue.grant(now: later + HostQueue.reserveLife * 0.75) == [])
        #expect(queue.grant(now: later + HostQueue.reserveLife) == [3])
    }

    @Test func onlyBackgroundOfTheSameHostIsDisplaced() throws {
        var queue = HostQueue(slots: 2, reserve: 1)
        for id in 1...2 {
            queue.enqueue(UInt64(id), priority: .background, host: try host("a"))
        }
        for id in 3...4 {
            queue.enqueue(UInt64(id), priority: .background, host: try host("b"))
        }
        #expect(queue.grant(now: start) == [1, 2, 3, 4])
        queue.move(2, to: .playback)
        queue.enqueue(5, priority: .playback, host: try host("a"))
        #expect(queue.displace(now: start) == [])
        queue.enqueue(6, priority: .playback, host: try host("c"))
        #expect(queue.displace(now: start) == [])
        #expect(queue.grant(now: start) == [6])
    }

    @Test func aBlockingReloadNeedsNoPlace() throws {
        var queue = HostQueue(slots: 1, reserve: 0)
        queue.enqueue(1, priority: .playback, host: try host("a"))
        for id in 2...4 {
            queue.enqueue(UInt64(id), priority: .playback, host: try host("a"), isCounted: false)
        }
        queue.enqueue(5, priority: .playback, host: try host("a"))
        #expect(queue.grant(now: start) == [1, 2, 3, 4])
        for id in 2...4 {
            queue.release(UInt64(id))
        }
        #expect(queue.grant(now: start) == [])
        queue.release(1)
        #expect(queue.grant(now: start) == [5])
    }

    @Test func olderTransferKeepsItsTurn() throws {
        var queue = HostQueue(slots: 1, reserve: 1)
        queue.enqueue(9, priority: .background, host: try host("a"))
        queue.enqueue(2, priority: .background, host: try host("a"))
        #expect(queue.grant(now: start) == [2])
    }

    @Test func waitingTransferCanBeRaisedAndCanLeave() throws {
        var queue = HostQueue(slots: 1, reserve: 0)
        for id in 1...4 {
            queue.enqueue(UInt64(id), priority: .background, host: try host("a"))
        }
        #expect(queue.grant(now: start) == [1])
        queue.move(4, to: .playback)
        queue.release(2)
        queue.release(1)
        #expect(queue.grant(now: start) == [4])
        queue.release(4)
        #expect(queue.grant(now: start) == [3])
    }
}

struct OriginPresenceTests {
    @Test func originIsAbsentAfterConsecutiveFailuresAndForLongerEachTime() throws {
        let origin = try WebURL("http://h").origin
        let start = ContinuousClock.now
        var presence = OriginPresence(absentAfter: 2, longestPause: 15)
        presence.recordUnreachable(origin, now: start)
        #expect(presence.admit(origin, now: start) == .normal)
        presence.recordUnreachable(origin, now: start)
        presence.recordUnreachable(origin, now: start)
        #expect(presence.isAbsent(origin, now: start + .milliseconds(4_999)))
        #expect(presence.admit(origin, now: start + .milliseconds(4_999)) == .refused)
        var now = start
        for pause in [5, 10, 15, 15] {
            now += .seconds(pause)
            #expect(!presence.isAbsent(origin, now: now))
            #expect(presence.admit(origin, now: now) == .probe)
            #expect(presence.isAbsent(origin, now: now))
            #expect(presence.admit(origin, now: now) == .refused)
            presence.recordUnreachable(origin, now: now)
        }
        #expect(presence.admit(try WebURL("http://h:81").origin, now: now) == .normal)
    }

    @Test func replyMakesTheOriginPresentAndForgetsItsFailures() throws {
        let origin = try WebURL("http://h").origin
        let now = ContinuousClock.now
        var presence = OriginPresence(absentAfter: 2, longestPause: 15)
        presence.recordUnreachable(origin, now: now)
        presence.recordReply(origin)
        presence.recordUnreachable(origin, now: now)
        #expect(!presence.isAbsent(origin, now: now))
        presence.recordUnreachable(origin, now: now)
        #expect(presence.isAbsent(origin, now: now))
        presence.recordReply(origin)
        #expect(presence.admit(origin, now: now) == .normal)
    }

    @Test func nextTransferIsTheProbeAfterAnAbandonedOne() throws {
        let origin = try WebURL("http://h").origin
        let now = ContinuousClock.now
        var presence = OriginPresence(absentAfter: 1, longestPause: 15)
        presence.recordUnreachable(origin, now: now)
        #expect(presence.admit(origin, now: now + .seconds(6)) == .probe)
        presence.abandonProbe(origin)
        #expect(presence.admit(origin, now: now + .seconds(6)) == .probe)
    }
}

struct StrongValidatorTests {
    @Test(
        arguments: [
            ("\"a\"", nil, nil, "\"a\""), ("W/\"a\"", nil, nil, nil), (nil, nil, nil, nil), ("a", nil, nil, nil),
            (nil, 0, 60, "Thu, 01 Jan 1970 00:00:00 GMT"), (nil, 0, 59, nil), (nil, 0, nil, nil),
            ("W/\"a\"", 0, 60, nil),
        ] as [(String?, Int64?, Int64?, String?)])
    func validatorIsStrongOrNil(tag: String?, modified: Int64?, date: Int64?, expected: String?) {
        let validator = StrongValidator(
            entityTag: tag.flatMap { EntityTag(fieldValue: Array($0.utf8)) },
            lastModified: modified.map { HTTPDate(secondsSinceEpoch: $0) },
            date: date.map { HTTPDate(secondsSinceEpoch: $0) })
        #expect(validator?.description == expected)
        if let expected {
            #expect(StrongValidator(expected) == validator)
        }
    }
}
