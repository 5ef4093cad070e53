import EventLoop
import HTTPMessage

extension OriginClient {
    /// The most hosts that are looked at for one caller.
    private static let mostLooks = 16

    /// Looks once, for at most `GiveUpRule.lookLimit`, at the hosts that have not answered lately, at all of them at the same
    /// time. Afterwards `isDead` is known for those that refuse connections, or have no address. One that is silent counts as
    /// before. A look requests the first byte, and is over with the reply's head; the connection stays for the next request.
    /// - Parameters:
    ///   - insertions: requests that may be redirected to other hosts than the rest, each of them. These are looked at, too.
    ///   - witness: a request to another host, which is looked at too if a failure may be the network's.
    package func lookAtHosts(
        of requests: [OriginRequest], insertions: [OriginRequest] = [], witness: OriginRequest? = nil
    ) async {
        guard !isOffline else { return }
        var due: [OriginRequest] = []
        for request in requests where due.count < Self.mostLooks {
            if needsLook(request) {
                due.append(request)
            }
        }
        for request in insertions where due.count < Self.mostLooks {
            if mayBeAsked(request), hosts.beginLook(atTargetOf: request.url, now: .now) {
                due.append(request)
            }
        }
        guard !due.isEmpty else { return }
        await look(due)
        var looked: Set<WebURL.Origin> = []
        for request in due {
            looked.insert(request.url.origin)
            if let target = hosts.target(of: request.url, now: .now) {
                looked.insert(target)
            }
        }
        if let witness, witness.url.isRequestable, looked.contains(where: { hosts.isAwaited($0, now: .now) }) {
            await look([witness])
        }
    }

    private func look(_ requests: [OriginRequest]) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let receiver = LookReceiver(continuation, count: requests.count)
            for request in requests {
                start(request.look(within: configuration.giveUpRule.lookLimit), receiver: receiver)
            }
        }
    }

    private func needsLook(_ request: OriginRequest) -> Bool {
        mayBeAsked(request) && hosts.beginLook(at: request.url.origin, now: .now)
    }

    private func mayBeAsked(_ request: OriginRequest) -> Bool {
        let url = request.url
        return url.isRequestable && !isHandled(request) && !hosts.isAbsent(url.origin, now: .now)
    }
}

extension WebURL {
    /// True if its host can be asked for it.
    fileprivate var isRequestable: Bool { !needsHandler && !isPlaceholder && inlineBytes == nil }
}

extension OriginRequest {
    /// A request for the first byte with the same fields, to see if the host answers.
    func look(within limit: Duration) -> OriginRequest {
        var look = self
        look.range = 0..<1
        look.start = 0
        look.validator = nil
        look.acceptsCompression = false
        look.acceptsAnyStatus = true
        look.retries = .never
        look.tally = nil
        // It must not wait for a slot: a host that does not answer has all its slots occupied.
        look.toleratesSilence = true
        look.deadline = limit
        return look
    }
}

/// Receives several looks, and resumes the caller once all are over.
@LoopActor private final class LookReceiver: TransferReceiver {
    private let continuation: CheckedContinuation<Void, Never>
    private var left: Int
    private var ended: Set<UInt64> = []

    init(_ continuation: CheckedContinuation<Void, Never>, count: Int) {
        self.continuation = continuation
        left = count
    }

    func transfer(_ transfer: Transfer, received head: OriginHead) {
        if ended.insert(transfer.id).inserted {
            endLook()
        }
        // A body of one byte is read to its end, so that its connection can be used again.
        if head.length != 1 {
            transfer.cancel()
        }
    }

    func transfer(_ transfer: Transfer, received bytes: UnsafeRawBufferPointer, at offset: Int64) {}

    func transfer(_ transfer: Transfer, ended result: Result<Void, OriginError>) {
        if ended.insert(transfer.id).inserted {
            endLook()
        }
    }

    private func endLook() {
        left -= 1
        if left == 0 {
            continuation.resume()
        }
    }
}
