import EventLoop
import Glibc
import Origin
import Store

/// Bytes of a resource that are there, or on their way, under another name: for another recording of the channel, or for a player
/// of it.
package enum SharedBytes {
    case fetch(Fetch)
    /// A stored piece, by its file's name.
    case piece(PieceFolder, String)
}

/// The fetch whose bytes another fetch reads.
@LoopActor struct LeadingFetch {
    let fetch: Fetch
    let subscription: Int
    /// Among the readers of `fetch`.
    var urgency: Fetch.Urgency
}

extension Fetch {
    /// True if another fetch may read its bytes. One that reads those of a third may not be read: two that wait for each other
    /// would wait for ever.
    package var isReadable: Bool {
        guard !readsShared, body.isSound, contentError == nil, !isOneOff else { return false }
        switch outcome {
        case nil: return state.isUnderWay
        case .success: return !isPiece
        case .failure: return false
        }
    }

    /// Reads bytes that another fetch has asked for, instead of asking the origin again. The bytes are checked and stored as those
    /// of a transfer. They come after the loop's current callback, as those of a transfer do.
    func read(_ shared: SharedBytes) {
        readsShared = true
        isCopy = true
        Task { @LoopActor in
            guard isAwaitingShared else { return }
            switch shared {
            case .fetch(let other): follow(other)
            case .piece(let folder, let file): await read(file, in: folder)
            }
        }
    }

    /// False once it was cancelled, or asks the origin.
    private var isAwaitingShared: Bool { readsShared && outcome == nil && state.phase == .requesting }

    // MARK: Another fetch

    private func follow(_ other: Fetch) {
        guard lead == nil else { return }
        other.retain(state.urgency)
        let subscription = other.subscribe { [weak self] in self?.readArrived() }
        lead = LeadingFetch(fetch: other, subscription: subscription, urgency: state.urgency)
        other.whenAnnounced { [weak self, weak other] result in
            guard let self, let other, self.lead?.fetch === other, case .success = result else { return }
            self.adoptHead(of: other)
            self.readArrived()
        }
        other.whenEnded { [weak self, weak other] result in
            if let self, let other, self.lead?.fetch === other {
                self.leadEnded(result)
            }
        }
    }

    /// Ends the reading of another fetch, which may end with it.
    func leaveLead() {
        readsShared = false
        guard let lead else { return }
        self.lead = nil
        lead.fetch.unsubscribe(lead.subscription)
        lead.fetch.release(lead.urgency)
    }

    /// A player has joined: the other fetch is a player's too.
    func raiseLead() {
        guard let lead, lead.urgency == .background else { return }
        self.lead?.urgency = .playback
        lead.fetch.retain(.playback)
        lead.fetch.release(.background)
    }

    private func adoptHead(of other: Fetch) {
        response.adopt(other.response, for: resource)
        if !state.hasHead {
            perform(state.receiveHead(hasUntriedSource: hasUntriedSource))
        }
    }

    private func readArrived() {
        guard let other = lead?.fetch, other.written > file.written else { return }
        adoptHead(of: other)
        while let lead, lead.fetch === other, file.written < other.written {
            let count = Int(min(other.written - file.written, Int64(Self.step)))
            let bytes = other.file.bytes(from: file.written, count: count)
            guard !bytes.isEmpty else { return }
            guard receive(bytes) else { return }
        }
    }

    /// Takes bytes behind those that are there. Returns false if they do not belong to the resource, and the fetch has failed.
    private func receive(_ bytes: [UInt8]) -> Bool {
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(FetchError) in try receive(buffer, at: file.written) }
        }
        guard case .failure(let error) = result else { return true }
        leaveLead()
        fail(error)
        return false
    }

    private func leadEnded(_ result: Result<Void, FetchError>) {
        guard let other = lead?.fetch else { return }
        switch result {
        case .success:
            readArrived()
            guard lead != nil else { return }
            leaveLead()
            // The rest went into a piece before it was read here.
            guard file.written == other.written else { return sendRequest() }
            adoptHead(of: other)
            if other.isPiece, let folder = other.folder {
                copied = CopiedPiece(folder: folder, file: other.resource.name.description)
            }
            complete(file.written)
        case .failure(let error):
            leaveLead()
            // Nobody else needed it any more.
            guard error.code != .cancelled else { return sendRequest() }
            fail(error)
        }
    }

    // MARK: A piece

    private func read(_ file: String, in folder: PieceFolder) async {
        if !folder.isVerified(file) {
            await withCheckedContinuation { continuation in
                folder.verify(file, isWhole: true) { continuation.resume() }
            }
        }
        guard isAwaitingShared else { return }
        guard folder.isVerified(file), let descriptor = folder.open(file) else { return sendRequest() }
        defer { close(descriptor) }
        copied = CopiedPiece(folder: folder, file: file)
        await read(descriptor, length: folder.sizes[file] ?? 0)
    }

    private func read(_ descriptor: Int32, length total: Int64) async {
        // It was checked when it was stored.
        response.receiveKnown(length: total)
        perform(state.receiveHead(hasUntriedSource: hasUntriedSource))
        var buffer = [UInt8](repeating: 0, count: Self.step)
        while isAwaitingShared, file.written < total {
            let count = pread(descriptor, &buffer, buffer.count, off_t(file.written))
            guard count > 0 else { return sendRequest() }
            guard receive(Array(buffer.prefix(count))) else { return }
            await Task.yield()
        }
        if isAwaitingShared {
            readsShared = false
            complete(file.written)
        }
    }

    private static let step = 256 << 10
}

/// The piece whose bytes a fetch has read.
struct CopiedPiece {
    let folder: PieceFolder
    let file: String
}
