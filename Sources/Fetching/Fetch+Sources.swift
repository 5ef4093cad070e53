import EventLoop
import HTTPMessage
package import Origin
import Store

/// Where a fetch asks, and where else when that fails.
extension Fetch {
    /// Asks for what is missing, at the present location.
    func ask() {
        (refusal, isAnswered) = (nil, false)
        beginning = file.written
        var request = request(for: location.range)
        request.start = file.written
        request.validator = validator
        request.limit = resource.limit
        if urgency == .playback, request.retries != nil { watch() }
        transfer = client.start(request, receiver: self)
    }

    /// A request at the present location, for this part of the file there; nil for all of it.
    func request(for range: Range<Int64>?) -> OriginRequest {
        var request = OriginRequest(location.url)
        request.range = range
        access.grant(to: &request)
        request.priority = urgency == .playback ? .playback : .background
        if hasAlternate { request.retries = .hasty }
        (request.insists, request.isReadMeanwhile) = (isInsisting, isReadMeanwhile)
        return request
    }

    /// Whether it has not ended, and nothing is done for it.
    var isIdle: Bool { outcome == nil && !isUnderWay }

    /// Asks for itself if somebody waits, now that what it shared with its neighbours does not bring it.
    func goOnAlone() {
        guard isIdle else { return }
        silence = nil
        if interest > 0 { ask() } else { endUnwanted() }
    }

    /// Goes another location, if there is one and somebody waits; else it is over.
    func fail(_ error: FetchError) {
        (transfer, isAnswered) = (nil, false)
        silence = nil
        if file.written > beginning { alternates?.recordArrival() }
        guard let alternates, error.concernsOrigin, interest > 0, isSound || file.written == 0 else {
            return end(.failure(error))
        }
        isSearching = true
        Task { @LoopActor in
            let next = await alternates.next(after: error)
            isSearching = false
            guard let next, interest > 0 else { return end(.failure(error)) }
            turn(to: next)
            isSound = true
            ask()
        }
    }

    /// Asks there from now on.
    func turn(to next: Resource) {
        // Two places may give one tag to different bytes; these are compared.
        if next.url.origin != location.url.origin { validator = nil }
        location = next
    }

    /// Sees that an origin that says nothing does not use up a player's patience, where another may answer.
    func watch() {
        silence = LoopTimer { [unowned self] in
            transfer?.cancel()
            doubtOrigin()
            fail(FetchError(.originAbsent, "\(location.url.redacted) does not answer"))
        }
        silence?.schedule(after: Self.headPatience)
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
