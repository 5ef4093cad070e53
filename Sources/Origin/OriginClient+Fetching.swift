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

    /// Fetches a text whose first bytes show what it is, such as a playlist. A body that begins otherwise may be a film, or a stream
    /// without an end: only its beginning is returned, at most `Collector.lookLength` bytes, and no later than `Collector.lookTime`
    /// after the first of them.
    /// - Parameter isExpected: true as long as the first bytes may be those of the text.
    public func fetch(
        _ request: OriginRequest, beginningAs isExpected: @escaping @Sendable ([UInt8]) -> Bool
    ) async throws(OriginError) -> (OriginHead, [UInt8]) {
        do throws(OriginError) {
            return try await fetch(request, into: Collector(beginningAs: isExpected))
        } catch {
            // A length beyond the limit is refused with the head. The first bytes say what is so long.
            guard error.code == .tooLarge,
                case let (head, bytes) = try await fetchHeadAndBeginning(of: request, count: Collector.lookLength),
                !isExpected(bytes)
            else { throw error }
            return (head, bytes)
        }
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
        request.limit = collector.isForBeginning ? .max : min(request.limit, configuration.playlistLimit)
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
    private let isExpected: (@Sendable ([UInt8]) -> Bool)?
    /// Ends a look at a body that does not begin as expected.
    private var look: LoopTimer?
    private var isEnough = false

    /// More bytes than most formats need to be recognised, and fewer than a slow radio station sends in `lookTime`.
    static let lookLength = 4096
    static let lookTime = Duration.seconds(1)

    /// The bytes of the longest playlist.
    private static let mostReserved: Int64 = 64 << 20

    private struct Enough: Error {}
    private struct Changed: Error {}

    nonisolated init(atMost most: Int = .max) {
        self.most = most
        isExpected = nil
    }

    /// See `OriginClient.fetch(_:beginningAs:)`.
    nonisolated init(beginningAs isExpected: @escaping @Sendable ([UInt8]) -> Bool) {
        most = .max
        self.isExpected = isExpected
    }

    nonisolated var isForBeginning: Bool { most < .max }

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
        // Memory that is not written costs nothing. Without it, a long text is copied again and again while it grows.
        bytes.reserveCapacity(Int(min(head.length ?? 0, Self.mostReserved)))
    }

    func transfer(_ transfer: Transfer, received new: UnsafeRawBufferPointer, at offset: Int64) throws {
        var new = UnsafeRawBufferPointer(rebasing: new.prefix(max(0, most - Int(offset))))
        if offset == 0 {
            // The body restarted; the caller has not seen the old bytes.
            earlier = bytes
            bytes = []
            look = nil
        } else if offset < bytes.count {
            let known = min(bytes.count - Int(offset), new.count)
            guard bytes[Int(offset)...].starts(with: new.prefix(known)) else { throw Changed() }
            new = UnsafeRawBufferPointer(rebasing: new[known...])
        }
        bytes.append(contentsOf: new)
        if bytes.count == most || isLookOver(at: transfer) {
            isEnough = true
            throw Enough()
        }
    }

    /// Begins to look at a body that does not begin as expected. Returns true once enough of it has come.
    private func isLookOver(at transfer: Transfer) -> Bool {
        let beginning = Array(bytes.prefix(Self.lookLength))
        guard let isExpected, !isExpected(beginning) else { return false }
        if look == nil {
            look = LoopTimer { [weak self, weak transfer] in
                self?.isEnough = true
                transfer?.fail(.cancelled)
            }
            look?.schedule(after: Self.lookTime)
        }
        return bytes.count >= Self.lookLength
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
        if isEnough {
            result = .success(())
        }
        look = nil
        let outcome = result.flatMap { _ -> Outcome in
            guard let head else { return .failure(OriginError(.local, url: transfer.url)) }
            return .success((head, bytes))
        }
        continuation?.resume(returning: outcome)
        continuation = nil
    }
}
