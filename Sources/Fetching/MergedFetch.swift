import EventLoop
package import Origin

/// Fetches of neighbours in one file that are brought by one request for their ranges together.
///
/// Each gets its part, ends with its own last byte, and may leave: one that a player comes to want and whose turn is
/// not yet asks for itself, and so that nothing comes twice the request ends before it; what is behind goes on by
/// another, since that is what the player wants next. Whatever goes wrong with the request, those that it has not
/// brought go on as if each had asked for itself.
@LoopActor final class MergedFetch {
    /// By their places in the order; nil once they are over or have left.
    private var members: [Fetch?]
    private var order: MergedFetchOrder
    private var transfer: Transfer?
    private var head: OriginHead?

    /// Starts fetches that have not begun: neighbours together, others by themselves.
    static func send(_ fetches: [Fetch]) {
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
        order = MergedFetchOrder(lengths: fetches.map { $0.resource.exactLength ?? 0 })
    }

    private func start() {
        guard let first = members.first ?? nil, let start = first.location.range?.lowerBound,
            let end = members.last??.location.range?.upperBound
        else { return }
        for member in members { member?.join(self) }
        var request = first.request(for: start..<end)
        request.limit = end - start
        transfer = first.client.start(request, receiver: self)
    }

    // MARK: Who comes and goes

    /// Somebody wants a member.
    func retained(_ fetch: Fetch, _ urgency: Fetch.Urgency) {
        guard let piece = place(of: fetch) else { return }
        order.want(piece)
        guard urgency == .playback else { return }
        // A silent origin is not waited for where there is a mirror: that is seen to by a request of its own.
        if piece == order.current, head != nil || !fetch.hasAlternate {
            transfer?.raise(to: .playback)
        } else {
            detach(piece)
        }
    }

    /// Nobody wants a member any more.
    func released(_ fetch: Fetch) {
        guard let piece = place(of: fetch), !(order.hasBegun(piece) && fetch.isNearlyDone) else { return }
        order.unwant(piece)
        shorten()
    }

    private func place(of fetch: Fetch) -> Int? { members.firstIndex { $0 === fetch } }

    private func detach(_ piece: Int) {
        let fetch = dismiss(piece)
        let behind = order.leave(piece)
        let (wanted, unwanted) = (behind.wanted.compactMap(dismiss), behind.unwanted.compactMap(dismiss))
        fetch?.continueAlone()
        MergedFetch.send(wanted)
        shorten()
        for fetch in unwanted { fetch.continueAlone() }
    }

    /// Lets go of the last ones that nobody wants, and of the request when it brings nothing more.
    private func shorten() {
        let dropped = order.trim().compactMap(dismiss)
        breakOff()
        for fetch in dropped { fetch.continueAlone() }
    }

    /// Ends a request that nothing more is taken of. One of which all was taken ends by itself, and its connection
    /// stays.
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
    /// See `TransferReceiver`.
    func transfer(_ transfer: Transfer, received head: OriginHead) {
        self.head = head
        expect(head)
    }

    private func expect(_ head: OriginHead) {
        if !order.isOver { members[order.current]?.receive(head) }
    }

    /// See `TransferReceiver`.
    func transfer(_ transfer: Transfer, received bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        // The pieces that are over are not compared with what comes again: each that is not asks for itself.
        guard offset == order.position else {
            throw FetchError(.badOrigin, "what came for several pieces cannot be gone on from")
        }
        var rest = bytes
        while let part = order.take(rest.count) {
            let own = UnsafeRawBufferPointer(rebasing: rest[..<part.count])
            rest = UnsafeRawBufferPointer(rebasing: rest[part.count...])
            try members[part.piece]?.receive(own, at: part.offset)
            if part.isLast { finish(part.piece) }
        }
        breakOff()
    }

    private func finish(_ piece: Int) {
        let fetch = dismiss(piece)
        order.finish(piece)
        if let head { expect(head) }
        fetch?.complete()
    }

    /// See `TransferReceiver`.
    func transfer(_ transfer: Transfer, ended result: Result<Void, OriginError>) {
        self.transfer = nil
        let left = order.close().compactMap(dismiss)
        // Who hears of the end of one may ask for another, which is then under location again.
        for fetch in left where fetch.isIdle { goOn(fetch, after: result) }
    }

    private func goOn(_ fetch: Fetch, after result: Result<Void, OriginError>) {
        if let refusal = fetch.refusal { return fetch.fail(refusal) }
        if case .failure(let error) = result, !error.code.mayConcernRange { return fetch.fail(FetchError(error)) }
        fetch.continueAlone()
    }
}

extension OriginError.Code {
    /// Whether a request for less may do better. Anything else would end a request for one piece just so.
    var mayConcernRange: Bool {
        switch self {
        case .rangeIgnored, .wrongRange, .contentChanged, .tooLarge, .malformedReply, .unexpectedStatus,
            .unsupportedEncoding, .connectionLost, .cutShort, .stalled, .timedOut:
            true
        case .offline, .unreachable, .refusedAddress, .untrustedCertificate, .unauthorized, .forbidden, .notFound,
            .gone, .serverFailure, .tooManyRedirects, .forbiddenRedirect, .cancelled, .local:
            false
        }
    }
}

extension RetryPolicy {
    /// One retry, and none after an attempt of more than a second.
    package static var hasty: RetryPolicy {
        var policy = RetryPolicy()
        (policy.attempts, policy.patience) = (1, .seconds(1))
        return policy
    }
}
