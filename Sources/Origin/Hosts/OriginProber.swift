import EventLoop
import HTTPMessage

/// Probes absent origins in the background: sends the probes of `OriginPresence` that no player or download requested.
/// A probe requests the first byte of the URL that last failed, with the same fields, and stops at the reply's head.
@LoopActor final class OriginProber {
    private unowned let client: OriginClient
    private var requests: [WebURL.Origin: OriginRequest] = [:]
    private var timer: LoopTimer?

    init(_ client: OriginClient) {
        self.client = client
        timer = LoopTimer { [unowned self] in sendDueProbes() }
    }

    func record(_ request: OriginRequest, at url: WebURL) {
        guard request.method == .get, !url.needsHandler, url != request.url || !client.isHandled(request) else {
            return
        }
        requests[url.origin] = Self.probe(
            like: request, at: url, within: client.configuration.giveUpRule.firstByteLimit)
        schedule()
    }

    func schedule() {
        if !requests.isEmpty {
            requests = requests.filter { client.hosts.isDown($0.key) }
        }
        guard let next = client.hosts.nextProbe(of: requests.keys) else {
            timer?.cancel()
            return
        }
        timer?.schedule(after: max(.zero, next - .now))
    }

    func sendDueProbes() {
        for origin in client.hosts.beginProbes(of: requests.keys, now: .now) {
            if let request = requests[origin] {
                client.probe(request, receiver: Probe())
            }
        }
        schedule()
    }

    private static func probe(like request: OriginRequest, at url: WebURL, within limit: Duration) -> OriginRequest {
        var probe = OriginRequest(url)
        probe.fields = request.fields
        probe.credentials = request.credentials
        probe.namedPeer = request.namedPeer
        probe.cookies = request.cookies
        probe.route = request.route
        probe.range = 0..<1
        probe.acceptsAnyStatus = true
        // A probe must not wait for a slot: an origin that does not answer has all its slots occupied.
        probe.toleratesSilence = true
        probe.deadline = limit
        return probe
    }
}

@LoopActor private final class Probe: TransferReceiver {
    nonisolated init() {}
    func transfer(_ transfer: Transfer, received head: OriginHead) { transfer.cancel() }
    func transfer(_ transfer: Transfer, received bytes: UnsafeRawBufferPointer, at offset: Int64) {}
    func transfer(_ transfer: Transfer, ended result: Result<Void, OriginError>) {}
}
