import EventLoop
import Origin

/// Flights of neighbours in one file that are brought by one request for their ranges together.
///
/// Each gets its part, ends with its own last byte, and may leave: one that a player comes to want and whose turn is
/// not yet asks for itself, and so that nothing comes twice the request ends before it; what is behind goes on by
/// another, since that is what the player wants next. Whatever goes wrong with the request, those that it has not
/// brought go on as if each had asked for itself.
@LoopActor final class Convoy {
    /// By their places in the order; nil once they are over or have left.
    private var members: [Flight?]
    private var order: ConvoyOrder
    private var transfer: Transfer?
    private var head: OriginHead?

    /// Starts flights that have not begun: neighbours together, others by themselves.
    static func send(_ flights: [Flight]) {
        for run in Resource.runs(of: flights.map(\.way)) {
            if run.count > 1 {
                Convoy(Array(flights[run])).start()
            } else {
                flights[run.lowerBound].start(.background, by: flights[run.lowerBound].way)
            }
        }
    }

    private init(_ flights: [Flight]) {
        members = flights
        order = ConvoyOrder(lengths: flights.map { $0.resource.exactLength ?? 0 })
    }

    private func start() {
        guard let first = members.first ?? nil, let start = first.way.range?.lowerBound,
            let end = members.last??.way.range?.upperBound
        else { return }
        for member in members { member?.convoy = self }
        var request = first.request(for: start..<end)
        request.limit = end - start
        transfer = first.client.start(request, receiver: self)
    }

    // MARK: Who comes and goes

    /// Somebody wants a member.
    func retained(_ flight: Flight, _ urgency: Flight.Urgency) {
        guard let piece = place(of: flight) else { return }
        order.want(piece)
        guard urgency == .playback else { return }
        // A silent origin is not waited for where there is a mirror: that is seen to by a request of its own.
        if piece == order.current, head != nil || !flight.hasOtherWay {
            transfer?.raise(to: .playback)
        } else {
            detach(piece)
        }
    }

    /// Nobody wants a member any more.
    func released(_ flight: Flight) {
        guard let piece = place(of: flight), !(order.hasBegun(piece) && flight.isNearlyDone) else { return }
        order.unwant(piece)
        shorten()
    }

    private func place(of flight: Flight) -> Int? { members.firstIndex { $0 === flight } }

    private func detach(_ piece: Int) {
        let flight = dismiss(piece)
        let behind = order.leave(piece)
        let (wanted, unwanted) = (behind.wanted.compactMap(dismiss), behind.unwanted.compactMap(dismiss))
        flight?.goOnAlone()
        Convoy.send(wanted)
        shorten()
        for flight in unwanted { flight.goOnAlone() }
    }

    /// Lets go of the last ones that nobody wants, and of the request when it brings nothing more.
    private func shorten() {
        let dropped = order.trim().compactMap(dismiss)
        breakOff()
        for flight in dropped { flight.goOnAlone() }
    }

    /// Ends a request that nothing more is taken of. One of which all was taken ends by itself, and its connection
    /// stays.
    private func breakOff() {
        guard order.isOver, order.isCut else { return }
        transfer?.cancel()
        transfer = nil
    }

    private func dismiss(_ piece: Int) -> Flight? {
        let flight = members[piece]
        members[piece] = nil
        flight?.convoy = nil
        return flight
    }
}

extension Convoy: TransferReceiver {
    /// See `TransferReceiver`.
    func transfer(_ transfer: Transfer, received head: OriginHead) {
        self.head = head
        expect(head)
    }

    private func expect(_ head: OriginHead) {
        if !order.isOver { members[order.current]?.expect(head) }
    }

    /// See `TransferReceiver`.
    func transfer(_ transfer: Transfer, received bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        // The pieces that are over are not compared with what comes again: each that is not asks for itself.
        guard offset == order.position else {
            throw LibraryError(.badOrigin, "what came for several pieces cannot be gone on from")
        }
        var rest = bytes
        while let part = order.take(rest.count) {
            let own = UnsafeRawBufferPointer(rebasing: rest[..<part.count])
            rest = UnsafeRawBufferPointer(rebasing: rest[part.count...])
            try members[part.piece]?.take(own, at: part.offset)
            if part.isLast { finish(part.piece) }
        }
        breakOff()
    }

    private func finish(_ piece: Int) {
        let flight = dismiss(piece)
        order.finish(piece)
        if let head { expect(head) }
        flight?.complete()
    }

    /// See `TransferReceiver`.
    func transfer(_ transfer: Transfer, ended result: Result<Void, OriginError>) {
        self.transfer = nil
        let left = order.close().compactMap(dismiss)
        // Who hears of the end of one may ask for another, which is then under way again.
        for flight in left where flight.isIdle { goOn(flight, after: result) }
    }

    private func goOn(_ flight: Flight, after result: Result<Void, OriginError>) {
        if let refusal = flight.refusal { return flight.fail(refusal) }
        if case .failure(let error) = result, !error.code.mayConcernRange { return flight.fail(LibraryError(error)) }
        flight.goOnAlone()
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
