import EventLoop
import HTTPMessage
public import Origin
import Store

extension Fetch: TransferReceiver {
    /// See `TransferReceiver`.
    public func transfer(_ transfer: Transfer, received head: OriginHead) { expect(head) }

    /// The bytes are about to come, behind this head.
    func expect(_ head: OriginHead) {
        length = resource.exactLength ?? head.length
        validator = head.validator
        isVouched = head.length != nil || head[.transferEncoding] != nil
        address = head.address
        silence = nil
        isAnswered = true
        if urgency == .playback { expectBody() }
    }

    /// Sees that a player gets its head. The bytes follow at once, as a rule; a player gives up on a server that is
    /// silent for 10 s, so it gets its head before that even if they do not; unless it has something else to play.
    func expectBody() {
        guard isStreamed, standIn == .none else { return }
        silence = LoopTimer { [unowned self] in announce() }  // Gone when it has ended.
        silence?.schedule(after: Self.headPatience)
    }

    /// A key is of no use before it is whole, and not known to be one before that.
    var isStreamed: Bool {
        if case .key = resource.name.role { false } else { true }
    }

    /// How long an origin may be silent before a player is given its head, or another origin is asked.
    static let headPatience = Duration.seconds(4)

    /// See `TransferReceiver`.
    public func transfer(
        _ transfer: Transfer, received bytes: UnsafeRawBufferPointer, at offset: Int64
    ) throws {
        try take(bytes, at: offset)
    }

    /// Takes the next bytes, at their offset in the resource.
    ///
    /// - Throws: why they are none of it, or find no place; `refusal` says the same from then on.
    func take(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FetchError) {
        do throws(FetchError) {
            if offset == 0 {
                if let imposter = imposter(in: bytes.prefix(MediaSignature.length)) {
                    throw FetchError(.badOrigin, imposter)
                }
                isBeginningKnown = bytes.count >= MediaSignature.length
            }
            do {
                try file.write(bytes, at: offset)
            } catch  where error.code == .contentChanged {
                throw FetchError(.badOrigin, "\(location.url.redacted) has changed at the origin", underlying: error)
            } catch {
                throw FetchError(error, about: "no place for \(location.url.redacted)")
            }
        } catch {
            (refusal, isSound) = (error, false)
            throw error
        }
    }

    /// See `TransferReceiver`.
    public func transfer(_ transfer: Transfer, ended result: Result<Void, OriginError>) {
        switch result {
        case .success: complete()
        case .failure(let error):
            if Self.doubtful.contains(error.code) { isSound = false }
            fail(refusal ?? FetchError(error))
        }
    }
}

extension Fetch {
    /// All bytes are there: it ends as a piece, or with what is wrong with them.
    func complete() {
        if let fault = fault() {
            isSound = false
            return end(.failure(FetchError(.badOrigin, fault)))
        }
        if seemsCut {
            guard isAskedAgain else { return askAgain() }
            guard isVouched else {
                isSound = false
                return end(.failure(FetchError(OriginError(.cutShort, url: location.url))))
            }
            // What the origin says twice is so.
        }
        length = file.written
        alternates?.recordArrival()
        land()
    }

    /// What is wrong with a body that has ended, in a sentence.
    private func fault() -> String? {
        if let expected = resource.exactLength ?? length, file.written != expected {
            return "\(location.url.redacted) has \(file.written) bytes, not \(expected)"
        }
        if let expectation {
            let bytes = file.prefix(Int(min(file.written, Resource.Limits.key)))
            guard bytes.withUnsafeBytes({ Digest(of: $0) }) == expectation else {
                return
                    "\(location.url.redacted) has changed at the origin: it is another key than what is stored was made for"
            }
        }
        if file.written == 0 { return "\(location.url.redacted) is empty" }
        // Where the beginning came in parts too small to tell.
        return isBeginningKnown ? nil : imposter(in: file.prefix(MediaSignature.length))
    }

    /// Whether the body ends in the midst of something, and that can be looked into: players who were told a length
    /// must get just that.
    private var seemsCut: Bool {
        switch resource.name.role {
        case .segment, .initialization: break
        case .key, .passing, .data: return false
        }
        guard resource.range == nil, !isVouched || urgency == .background else { return false }
        let extent = MediaExtent(
            length: file.written, isInBlocks: alternates?.isEncryptedInBlocks ?? false, isVouched: isVouched
        ) { [file] in file.bytes(from: $0, count: $1) }
        return extent.isCut
    }

    /// Asks for all of it once more, to be compared with what is there and gone on with behind that.
    private func askAgain() {
        (isAskedAgain, validator, length) = (true, nil, nil)
        ask()
    }

    fileprivate func imposter(in beginning: some Collection<UInt8>) -> String? {
        guard let wanted = resource.wanted, let found = MediaSignature.imposter(in: beginning), found != wanted else {
            return nil
        }
        return "\(location.url.redacted) was answered with \(found) instead of \(wanted)"
    }

    /// Errors after which the bytes that came cannot be relied on.
    private static let doubtful: Set<OriginError.Code> = [
        .contentChanged, .rangeIgnored, .wrongRange, .tooLarge, .malformedReply,
    ]
}
