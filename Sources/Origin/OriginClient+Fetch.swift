import EventLoop

extension OriginClient {
    /// Fetches a small resource into memory: a playlist, a key, a reply of the control API.
    ///
    /// The configuration's limits for playlists apply unless the request has its own. Cancelling the task cancels the
    /// transfer.
    /// - Throws: `OriginError`; `cancelled` if the task was cancelled.
    public func fetch(_ request: OriginRequest) async throws(OriginError) -> (OriginHead, [UInt8]) {
        var request = request
        request.limit = min(request.limit, configuration.playlistLimit)
        request.deadline = request.deadline ?? configuration.giveUpRule.playlistDeadline
        request.start = 0
        let collector = Collector()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                collector.begin(start(request, receiver: collector), continuation)
            }
        } onCancel: {
            Task { @LoopActor in collector.cancel() }
        }
        return try result.get()
    }
}

/// Collects a body in memory and resumes the waiting task.
@LoopActor private final class Collector: TransferReceiver {
    typealias Outcome = Result<(OriginHead, [UInt8]), OriginError>

    private weak var transfer: Transfer?
    private var continuation: CheckedContinuation<Outcome, Never>?
    private var isCancelled = false
    private var head: OriginHead?
    private var bytes: [UInt8] = []

    nonisolated init() {}

    func begin(_ transfer: Transfer, _ continuation: CheckedContinuation<Outcome, Never>) {
        self.transfer = transfer
        self.continuation = continuation
        if isCancelled { transfer.fail(.cancelled) }
    }

    /// Cancels the transfer; may be called after its end.
    func cancel() {
        isCancelled = true
        transfer?.fail(.cancelled)
    }

    func transfer(_ transfer: Transfer, received head: OriginHead) {
        self.head = head
        bytes.reserveCapacity(Int(min(head.length ?? 0, 1 << 20)))
    }

    func transfer(_ transfer: Transfer, received new: UnsafeRawBufferPointer, at offset: Int64) {
        // The body restarted; the caller has not seen the old bytes.
        if offset < bytes.count { bytes.removeLast(bytes.count - Int(offset)) }
        bytes.append(contentsOf: new)
    }

    func transfer(_ transfer: Transfer, ended result: Result<Void, OriginError>) {
        let bytes = bytes
        let outcome = result.flatMap { _ -> Outcome in
            guard let head else { return .failure(OriginError(.local, url: transfer.url)) }
            return .success((head, bytes))
        }
        continuation?.resume(returning: outcome)
        continuation = nil
    }
}
