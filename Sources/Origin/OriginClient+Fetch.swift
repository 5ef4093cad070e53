import EventLoop

extension OriginClient {
    /// Fetches a small resource into memory: a playlist, a key, a reply of the control API.
    ///
    /// The configuration's bounds for playlists hold where the request has none of its own. When the task is cancelled,
    /// so is the transfer.
    /// - Throws: `OriginError`; `cancelled` when the task was.
    public func fetch(_ request: OriginRequest) async throws(OriginError) -> (OriginHead, [UInt8]) {
        var request = request
        request.limit = min(request.limit, configuration.playlistLimit)
        request.deadline = request.deadline ?? configuration.playlistDeadline
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

/// Gathers a body in memory and resumes the task that waits for it.
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

    /// Also comes when the end was there first.
    func cancel() {
        isCancelled = true
        transfer?.fail(.cancelled)
    }

    func transfer(_ transfer: Transfer, received head: OriginHead) {
        self.head = head
        bytes.reserveCapacity(Int(min(head.length ?? 0, 1 << 20)))
    }

    func transfer(_ transfer: Transfer, received new: UnsafeRawBufferPointer, at offset: Int64) {
        // Begun again from 0: nobody has seen the first beginning.
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
