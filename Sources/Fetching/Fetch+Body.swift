import EventLoop
import HTTPMessage
public import Origin
import Store

extension Fetch: TransferReceiver {
    /// See `TransferReceiver`.
    public func transfer(_ transfer: Transfer, received head: OriginHead) { receive(head) }

    /// See `TransferReceiver`.
    public func transfer(_ transfer: Transfer, received bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        try receive(bytes, at: offset)
    }

    /// See `TransferReceiver`.
    public func transfer(_ transfer: Transfer, ended result: Result<Void, OriginError>) {
        switch result {
        case .success: complete()
        case .failure(let error):
            if BodyEvidence.contradicts(error.code) { body.isSound = false }
            fail(refusal ?? FetchError(error))
        }
    }

    /// The head of the response that carries its bytes.
    func receive(_ head: OriginHead) {
        length = resource.exactLength ?? head.length
        validator = head.validator
        body.isFramed = head.length != nil || head[.transferEncoding] != nil
        address = head.address
        perform(state.receiveHead(hasUntriedSource: hasUntriedSource))
    }

    /// Writes the next bytes at their offset in the resource.
    /// - Throws: the reason why they do not belong to it, or cannot be written; `refusal` has it from then on.
    func receive(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FetchError) {
        do throws(FetchError) {
            if offset == 0 {
                if let fault = fault(inBeginning: bytes.prefix(MediaSignature.length)) { throw fault }
                body.isBeginningChecked = bytes.count >= MediaSignature.length
            }
            do {
                try file.write(bytes, at: offset)
            } catch  where error.code == .contentChanged {
                throw FetchError(.badOrigin, "\(location.url.redacted) has changed at the origin", underlying: error)
            } catch {
                throw FetchError(error, about: "no room for \(location.url.redacted)")
            }
        } catch {
            (refusal, body.isSound) = (error, false)
            throw error
        }
    }

    /// Every byte has arrived: checks the body, and stores it or fails.
    func complete() {
        if let fault = fault() {
            body.isSound = false
            return end(.failure(fault))
        }
        if seemsCut {
            guard body.isRepeated else {
                // The repeated body is compared with the first one, and continued behind it.
                (body.isRepeated, validator, length) = (true, nil, nil)
                return perform(state.repeatRequest(hasUntriedSource: hasUntriedSource))
            }
            // A length that the origin states twice is right.
            guard body.isFramed else {
                body.isSound = false
                return end(.failure(FetchError(OriginError(.cutShort, url: location.url))))
            }
        }
        length = file.written
        alternates?.recordArrival()
        commit()
    }

    private func fault() -> FetchError? {
        if let expected = resource.exactLength ?? length, file.written != expected {
            return FetchError(.badOrigin, "\(location.url.redacted) has \(file.written) bytes, not \(expected)")
        }
        if let expectation {
            let bytes = file.prefix(Int(min(file.written, Resource.Limits.key)))
            guard bytes.withUnsafeBytes({ Digest(of: $0) }) == expectation else {
                return FetchError(
                    .badOrigin,
                    "\(location.url.redacted) has changed at the origin: it is another key than that of the stored segments"
                )
            }
        }
        if file.written == 0 { return FetchError(.badOrigin, "\(location.url.redacted) is empty") }
        // The first bytes arrived in parts too small to check.
        return body.isBeginningChecked ? nil : fault(inBeginning: file.prefix(MediaSignature.length))
    }

    private func fault(inBeginning bytes: some Collection<UInt8>) -> FetchError? {
        guard let expected = resource.expectedContent, let found = MediaSignature.imposter(in: bytes),
            found != expected
        else { return nil }
        return FetchError(.badOrigin, "\(location.url.redacted) was answered with \(found) instead of \(expected)")
    }

    /// True if the body ends inside a box, a packet or a block. A player that was told a length must get exactly that.
    private var seemsCut: Bool {
        switch resource.name.role {
        case .segment, .initialization: break
        case .key, .passing, .data: return false
        }
        guard resource.range == nil, !body.isFramed || state.urgency == .background else { return false }
        let extent = MediaExtent(
            length: file.written, isInBlocks: alternates?.isEncryptedInBlocks ?? false, isVouched: body.isFramed
        ) { [file] in file.bytes(from: $0, count: $1) }
        return extent.isCut
    }

    /// Makes a piece of the file, if it is to be one, and ends: at once, or when the disk has taken gathered bytes.
    fileprivate func commit() {
        guard let folder, keepFailure == nil else { return end(.success(())) }
        transfer = nil
        perform(state.commit())
        // The bundle is being moved.
        guard !folder.isSuspended else { return folder.performWrite { [self] in commit() } }
        guard let committer, let gathered = file.handOver() else {
            do {
                try folder.commit(file, as: resource.name.description)
                isPiece = true
            } catch {
                obstacle = error
            }
            return end(.success(()))
        }
        folder.commit(gathered, as: resource.name.description, by: committer) { [self] failure in
            // The asset may have been removed meanwhile.
            if self.folder != nil { if let failure { obstacle = failure } else { isPiece = true } }
            end(.success(()))
        }
        if state.phase == .committing, committer.hasRoom { notify(.arrived) }
    }
}

struct BodyEvidence {
    /// False once something speaks against the bytes.
    var isSound = true
    /// True if the latest response stated its length or its end, in place of just closing the connection.
    var isFramed = true
    /// True if the body was requested once more, because it seemed to end too early.
    var isRepeated = false
    /// True if enough of the first bytes were checked together.
    var isBeginningChecked = false

    static func contradicts(_ code: OriginError.Code) -> Bool {
        switch code {
        case .contentChanged, .rangeIgnored, .wrongRange, .tooLarge, .malformedReply: true
        default: false
        }
    }
}
