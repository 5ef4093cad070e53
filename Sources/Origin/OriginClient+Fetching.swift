import EventLoop

extension OriginClient {
    /// Fetches a small resource into memory: a playlist, a key, a reply of the control API.
    ///
    /// The configuration's limits for playlists apply unless the request has its own. Cancelling the task cancels the
    /// transfer.
    /// - Throws: `OriginError`; `cancelled` if the task was cancelled.
    public func fetch(_ request: OriginRequest) async throws(OriginError) -> (OriginHead, [UInt8]) {
        try await fetch(request, into: Collector())
    }

    /// Fetches the first bytes of a body, at most `count`, and abandons the rest. Needs no support of ranges.
    public func fetchBeginning(of request: OriginRequest, count: Int) async throws(OriginError) -> [UInt8] {
        try await fetchHeadAndBeginning(of: request, count: count).1
    }

    /// As `fetchBeginning(of:count:)`, with the head of the reply.
    public func fetchHeadAndBeginning(
        of request: OriginRequest, count: Int
    ) async throws(OriginError) -> (OriginHead, [UInt8]) {
        try await fetch(request, into: Collector(atMost: count))
    }

    private func fetch(
        _ request: OriginRequest, into collector: Collector
    ) async throws(OriginError) -> (OriginHead, [UInt8]) {
        var request = request
        request.limit = min(request.limit, configuration.playlistLimit)
        request.deadline = request.deadline ?? configuration.giveUpRule.playlistDeadline
        request.start = 0
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

@LoopActor private final class Collector: TransferReceiver {
    typealias Outcome = Result<(OriginHead, [UInt8]), OriginError>

    private weak var transfer: Transfer?
    private var continuation: CheckedContinuation<Outcome, Never>?
    private var isCancelled = false
    private var head: OriginHead?
    private var bytes: [UInt8] = []
    /// The bytes before the body was requested again.
    private var earlier: [UInt8] = []

    private let most: Int

    private struct Enough: Error {}
    private struct Changed: Error {}

    nonisolated init(atMost most: Int = .max) { self.most = most }

    func begin(_ transfer: Transfer, _ continuation: CheckedContinuation<Outcome, Never>) {
        self.transfer = transfer
        self.continuation = continuation
        if isCancelled {
            transfer.fail(.cancelled)
        }
    }

    func cancel() {
        isCancelled = true
        transfer?.fail(.cancelled)
    }

    func transfer(_ transfer: Transfer, received head: OriginHead) {
        self.head = head
        bytes.reserveCapacity(Int(min(head.length ?? 0, 1 << 20)))
    }

    func transfer(_ transfer: Transfer, received new: UnsafeRawBufferPointer, at offset: Int64) throws {
        var new = UnsafeRawBufferPointer(rebasing: new.prefix(max(0, most - Int(offset))))
        if offset == 0 {
            // The body restarted; the caller has not seen the old bytes.
            earlier = bytes
            bytes = []
        } else if offset < bytes.count {
            let known = min(bytes.count - Int(offset), new.count)
            guard bytes[Int(offset)...].starts(with: new.prefix(known)) else { throw Changed() }
            new = UnsafeRawBufferPointer(rebasing: new[known...])
        }
        bytes.append(contentsOf: new)
        if bytes.count == most {
            throw Enough()
        }
    }

    /// A playlist is not cut in the middle of a line.
    func transfer(_ transfer: Transfer, mayEndBy evidence: EndEvidence) -> Bool {
        let endsLine = bytes.last == UInt8(ascii: "\n") || bytes.suffix(14).elementsEqual("#EXT-X-ENDLIST".utf8)
        return switch evidence {
        case .shorterThanStated: false
        case .repeated: endsLine && bytes == earlier
        case .silent, .unrequestedPart: endsLine
        }
    }

    func transfer(_ transfer: Transfer, ended result: Result<Void, OriginError>) {
        let bytes = bytes
        var result = result
        if bytes.count == most {
            result = .success(())
        }
        let outcome = result.flatMap { _ -> Outcome in
            guard let head else { return .failure(OriginError(.local, url: transfer.url)) }
            return .success((head, bytes))
        }
        continuation?.resume(returning: outcome)
        continuation = nil
    }
}
