import EventLoop
import Origin

/// Fetches of adjacent byte ranges of one file that share one merged request. Each member gets its range, ends with its
/// own last byte, and may leave. If a player needs a member whose turn is later, that member makes its own request. The
/// merged request then ends before that member, so that no byte is transferred twice, and the members behind it
/// continue with another merged request, because the player needs them next. If the merged request fails, each member
/// without its bytes continues with a request of its own.
@LoopActor final class MergedFetch {
    /// By index in the order; nil once a member has ended or left.
    private var members: [Fetch?]
    private var order: MergedFetchOrder
    private(set) var transfer: Transfer?
    private var head: OriginHead?

    static func send(_ fetches: [Fetch]) {
        if fetches.count == 1 {
            return fetches[0].start(.background, at: fetches[0].location)
        }
        for run in Resource.runs(of: fetches.map(\.location)) {
            if run.count > 1 {
                MergedFetch(Array(fetches[run])).start()
            } else {
                fetches[run.lowerBound].start(.background, at: fetches[run.lowerBound].location)
            }
        }
    }

    private init(_ fetches: [Fetch]) {
        members = fetches
        let lengths = fetches.map { fetch in
            fetch.resource.exactLength ?? 0
        }
        order = MergedFetchOrder(lengths: lengths)
    }

    private func start() {
        guard let first = members.first ?? nil, let start = first.location.range?.lowerBound,
            let end = members.last??.location.range?.upperBound
        else { return }
        for member in members {
            member?.join(self)
        }
        var request = first.request(for: start..<end)
        request.limit = end - start
        transfer = first.client.start(request, receiver: self)
    }

    func retained(_ fetch: Fetch, _ urgency: Fetch.Urgency) {
        guard let piece = index(of: fetch) else { return }
        order.markNeeded(piece)
        guard urgency == .playback else { return }
        // If there is a mirror, do not wait for a silent origin: a request of the member's own handles that.
        if piece == order.current, head != nil || !fetch.hasAlternate {
            transfer?.raise(to: .playback)
        } else {
            detach(piece)
        }
    }

    /// True if some bytes of the member have arrived.
    func hasBegun(_ fetch: Fetch) -> Bool { index(of: fetch).map(order.hasBegun) ?? false }

    /// Lowers the priority of the request, unless a player waits for another member.
    func lower(for fetch: Fetch) {
        if !members.contains(where: { $0 !== fetch && $0?.state.urgency == .playback }) {
            transfer?.lower()
        }
    }

    /// Records that nobody waits for a member, and that it is not finished without a reader.
    func released(_ fetch: Fetch) {
        guard let piece = index(of: fetch) else { return }
        order.markUnneeded(piece)
        lower(for: fetch)
        shorten()
    }

    private func index(of fetch: Fetch) -> Int? { members.firstIndex { $0 === fetch } }

    private func detach(_ piece: Int) {
        let fetch = dismiss(piece)
        let behind = order.leave(piece)
        let needed = behind.needed.compactMap(dismiss)
        let unneeded = behind.unneeded.compactMap(dismiss)
        fetch?.continueAlone()
        MergedFetch.send(needed)
        shorten()
        for fetch in unneeded {
            fetch.continueAlone()
        }
    }

    /// Drops the last members that are not needed, and cancels the request if no other member is left.
    private func shorten() {
        let dropped = order.trim().compactMap(dismiss)
        breakOff()
        for fetch in dropped {
            fetch.continueAlone()
        }
    }

    /// Cancels a request whose rest is not needed. If all was used, it ends by itself and its connection stays.
    private func breakOff() {
        guard order.isOver, order.isCut else { return }
        transfer?.cancel()
        transfer = nil
    }

    private func dismiss(_ piece: Int) -> Fetch? {
        let fetch = members[piece]
        members[piece] = nil
        fetch?.leaveMergedFetch()
        return fetch
    }
}

extension MergedFetch: TransferReceiver {
    func transfer(_ transfer: Transfer, received head: OriginHead) {
        self.head = head
        expect(head)
    }

    private func expect(_ head: OriginHead) {
        if !order.isOver {
            members[order.current]?.receive(head)
        }
    }

    func transfer(_ transfer: Transfer, received bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        // Finished pieces are not compared with repeated bytes: each unfinished one makes its own request.
        guard offset == order.position else {
            throw FetchError(.badOrigin, "a response for several pieces cannot be continued")
        }
        var rest = bytes
        while let part = order.assign(rest.count) {
            let bytes = UnsafeRawBufferPointer(rebasing: rest[..<part.count])
            rest = UnsafeRawBufferPointer(rebasing: rest[part.count...])
            try members[part.piece]?.receive(bytes, at: part.offset)
            if part.isLast {
                finish(part.piece)
            }
        }
        breakOff()
    }

    private func finish(_ piece: Int) {
        let fetch = dismiss(piece)
        order.finish(piece)
        if let head {
            expect(head)
        }
        if let fetch {
            fetch.complete(fetch.written)
        }
    }

    func transfer(_ transfer: Transfer, ended result: Result<Void, OriginError>) {
        self.transfer = nil
        let left = order.close().compactMap(dismiss)
        // An observer of one member's end may request another member. That one is then running again, and not idle.
        for fetch in left where fetch.isIdle {
            resume(fetch, after: result)
        }
    }

    private func resume(_ fetch: Fetch, after result: Result<Void, OriginError>) {
        if let refusal = fetch.refusal {
            return fetch.fail(refusal)
        }
        if case .failure(let error) = result, !error.code.mayConcernRange {
            return fetch.fail(FetchError(error))
        }
        fetch.continueAlone()
    }
}

extension OriginError.Code {
    /// True if a request for a smaller range may succeed. Any other error would end a request for one piece as well.
    var mayConcernRange: Bool {
        switch self {
        case .rangeIgnored, .wrongRange, .contentChanged, .tooLarge, .malformedReply, .unexpectedStatus,
            .unsupportedEncoding, .connectionLost, .cutShort, .stalled, .timedOut:
            true
        case .offline, .unreachable, .hostDead, .refusedAddress, .untrustedCertificate, .handshakeRefused,
            .proxyRefused, .unauthorized, .forbidden, .notFound, .gone, .serverFailure, .tooManyRedirects,
            .forbiddenRedirect,
            .noHandler, .handlerFailed, .cancelled, .local:
            false
        }
    }
}
