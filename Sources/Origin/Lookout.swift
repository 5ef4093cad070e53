import EventLoop
import HTTPMessage

/// Looks by itself whether origins that are not there have come back: sends the probes of `OriginPresence` that are
/// nobody's.
///
/// A probe asks for the first byte of what was last asked of the origin in vain, with what that request had, and goes
/// no further than the head of the reply.
@LoopActor final class Lookout {
    private unowned let client: OriginClient
    private var lost: [WebURL.Origin: OriginRequest] = [:]
    private var timer: LoopTimer?

    init(_ client: OriginClient) {
        self.client = client
        timer = LoopTimer { [unowned self] in look() }
    }

    /// Notes what was asked of an origin that is not there.
    func note(_ request: OriginRequest, at url: WebURL) {
        guard request.method == .get else { return }
        lost[url.origin] = Self.probe(like: request, at: url, within: client.configuration.firstByteLimit)
        schedule()
    }

    /// Sees that the next probe goes out in time.
    func schedule() {
        if !lost.isEmpty { lost = lost.filter { client.presence.isLost($0.key) } }
        guard let next = client.presence.nextProbe(of: lost.keys) else {
            timer?.cancel()
            return
        }
        timer?.schedule(after: max(.zero, next - .now))
    }

    /// Sends the probes that are due.
    func look() {
        for origin in client.presence.beginProbes(of: lost.keys, now: .now) {
            if let request = lost[origin] { client.probe(request, receiver: Probe()) }
        }
        schedule()
    }

    private static func probe(like request: OriginRequest, at url: WebURL, within limit: Duration) -> OriginRequest {
        var probe = OriginRequest(url)
        (probe.fields, probe.credentials, probe.namedPeer) = (request.fields, request.credentials, request.namedPeer)
        probe.range = 0..<1
        probe.acceptsAnyStatus = true
        // It waits behind nobody: an origin that does not answer has all its places taken.
        probe.toleratesSilence = true
        probe.deadline = limit
        return probe
    }
}

/// Wants to know that there is an answer, and nothing of it.
@LoopActor private final class Probe: TransferReceiver {
    nonisolated init() {}

    func transfer(_ transfer: Transfer, received head: OriginHead) { transfer.cancel() }
    func transfer(_ transfer: Transfer, received bytes: UnsafeRawBufferPointer, at offset: Int64) {}
    func transfer(_ transfer: Transfer, ended result: Result<Void, OriginError>) {}
}
