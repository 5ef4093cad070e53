import EventLoop
import Glibc
import TestSupport
import Testing

@testable import Origin

@Suite @LoopActor struct SocketWatchesTests {
    let watches = SocketWatches()
    private let readyLog = Ready()

    @LoopActor private final class Ready {
        var sockets: [Int32] = []
    }

    init() {
        // Reading the byte, as libcurl would, lets the loop rest.
        watches.ready = { [readyLog] socket, _ in
            readyLog.sockets.append(socket)
            var byte: UInt8 = 0
            read(socket, &byte, 1)
        }
    }

    /// A socket that the watches own, unless `isForeign`, and its peer.
    private func pair(isForeign: Bool = false) throws -> (own: Int32, peer: Int32) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            throw SystemCallError("socketpair")
        }
        if !isForeign {
            watches.opened(ends[0])
            watches.beganUse(of: ends[0])
        }
        return (ends[0], ends[1])
    }

    private func send(_ peer: Int32) { write(peer, [7], 1) }

    private func expectReady(_ sockets: [Int32]) async throws {
        try await waitUntil("\(sockets)") { @LoopActor in readyLog.sockets == sockets }
    }

    @Test func socketIsReportedWhileWatched() async throws {
        let (own, peer) = try pair()
        watches.watch(own, for: .reading)
        send(peer)
        try await expectReady([own])
        watches.watch(own, for: nil)
        watches.watch(own, for: .reading)
        send(peer)
        try await expectReady([own, own])
        #expect(watches.close(own) == 0)
        close(peer)
    }

    @Test func bytesThatArriveUnwatchedAreReportedLater() async throws {
        let (own, peer) = try pair()
        let (other, otherPeer) = try pair()
        watches.watch(own, for: .reading)
        watches.watch(own, for: nil)
        watches.watch(other, for: .reading)
        send(peer)
        send(otherPeer)
        try await expectReady([other])
        watches.watch(own, for: .reading)
        try await expectReady([other, own])
        for socket in [own, other] {
            #expect(watches.close(socket) == 0)
        }
        for socket in [peer, otherPeer] {
            close(socket)
        }
    }

    @Test func interestInASocketMayChange() async throws {
        let (own, peer) = try pair()
        var written = 0
        watches.ready = { [watches] socket, ready in
            if ready.contains(.writing) {
                written += 1
            }
            watches.watch(socket, for: .reading)
        }
        watches.watch(own, for: .writing)
        try await waitUntil("that it can be written") { @LoopActor in written == 1 }
        #expect(watches.close(own) == 0)
        close(peer)
    }

    @Test(arguments: [false, true])
    func anotherSocketWithTheSameNumberHasItsOwnWatch(_ isForeign: Bool) async throws {
        let (old, oldPeer) = try pair(isForeign: isForeign)
        watches.watch(old, for: .reading)
        watches.watch(old, for: nil)
        var replacement: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &replacement) == 0 else {
            throw SystemCallError("socketpair")
        }
        #expect((isForeign ? close(old) : watches.close(old)) == 0)
        #expect(dup2(replacement[0], old) == old)
        var ready = 0
        do {
            let watch = DescriptorWatch(old, for: .reading) { _ in
                ready += 1
                var byte: UInt8 = 0
                read(old, &byte, 1)
            }
            send(replacement[1])
            try await waitUntil("the new one's byte") { @LoopActor in ready == 1 }
            _ = consume watch
        }
        #expect(readyLog.sockets.isEmpty)
        for socket in replacement + [old, oldPeer] {
            close(socket)
        }
    }

    /// libcurl closes the losers of a race for a connection without a report.
    @Test func aSocketThatWasClosedUnusedLeavesNoWatchBehind() async throws {
        let (old, peer) = try pair()
        watches.opened(old)
        watches.watch(old, for: .reading)
        close(old)
        close(peer)
        let (own, other) = try pair()
        #expect(own == old)
        watches.watch(own, for: .reading)
        send(other)
        try await expectReady([own])
        watches.opened(own)
        watches.watch(own, for: .reading)
        watches.watch(own, for: nil)
        watches.watch(own, for: .reading)
        send(other)
        try await expectReady([own, own])
        #expect(watches.close(own) == 0)
        close(other)
    }
}
