import EventLoop
import HTTPMessage
public import Origin
import SegmentFormat
import Store

extension Fetch: TransferReceiver {
    /// See `TransferReceiver`.
    public func transfer(_ transfer: Transfer, received head: OriginHead) { receive(head) }

    /// See `TransferReceiver`.
    public func transfer(_ transfer: Transfer, received bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        try receive(bytes, at: offset)
    }

    /// See `TransferReceiver`.
    public var takesSmallParts: Bool { file.takesSmallParts }

    /// See `TransferReceiver`.
    public func transfer(_ transfer: Transfer, mayEndBy evidence: EndEvidence) -> Bool {
        guard transfer.count == file.written, resource.range == nil else { return false }
        if let length = resource.exactLength {
            return transfer.count == length
        }
        return switch (extent(isVouched: false).end, evidence) {
        case (.cut, _): false
        // Chunks without the last one may break off at the same byte each time. Text goes on until a line ends.
        case (.unknown, .repeated): !response.isChunked || file.bytes(from: file.written - 1, count: 1) == [0x0A]
        // A chunked body that ends early may end behind a chunk with a fragment.
        case (.proven, .shorterThanStated): !response.isChunked
        case (.proven, _), (.recognised, .unrequestedPart), (.recognised, .silent), (_, .repeated): true
        case (.recognised, .shorterThanStated), (.unknown, _): false
        }
    }

    /// See `TransferReceiver`.
    public func transfer(_ transfer: Transfer, ended result: Result<Void, OriginError>) {
        switch result {
        case .success:
            if !transfer.isEndMarked {
                response.recordUnmarkedEnd()
            }
            complete(transfer.count)
        case .failure(let error):
            if BodyEvidence.contradicts(error.code) {
                body.isSound = false
            }
            let isStillCut = body.isRepeated && file.written > 0 && error.code == .cutShort
            var failure = FetchError(error)
            if isStillCut {
                failure = cutFailure
            }
            fail(refusal ?? failure)
        }
    }

    /// The head of the response that carries its bytes.
    func receive(_ head: OriginHead) {
        response.receive(head, for: resource)
        file.expect(length)
        perform(state.receiveHead(hasUntriedSource: hasUntriedSource))
    }

    /// Takes the bytes of a key from its URL, after the loop's current callback, as those of a transfer.
    func receive(inline bytes: [UInt8]) {
        Task { @LoopActor in
            guard outcome == nil else { return }
            response.receiveKnown(length: Int64(bytes.count))
            perform(state.receiveHead(hasUntriedSource: hasUntriedSource))
            let result = bytes.withUnsafeBytes { buffer in
                Result { () throws(FetchError) in try receive(buffer, at: 0) }
            }
            switch result {
            case .success: complete(file.written)
            case .failure(let error): fail(error)
            }
        }
    }

    /// Writes the next bytes at their offset in the resource.
    /// - Throws: the reason why they do not belong to it, or cannot be written; `refusal` has it from then on.
    func receive(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FetchError) {
        do throws(FetchError) {
            if offset == 0 {
                // Fewer bytes show little, and are checked once all have arrived.
                let isWhole = Int64(bytes.count) == length
                if isWhole || bytes.count >= MediaSignature.leastLength {
                    let verdict = verdict(bytes, isWhole: isWhole)
                    if let fault = fault(verdict) {
                        throw fault
                    }
                    body.isBeginningChecked = verdict == .expected && bytes.count >= MediaSignature.textLength
                }
            }
            if offset == 0, let oddity = BodyOddity.sentence(about: bytes, as: resource) {
                alternates?.recordOddity(oddity)
            }
            do {
                try file.write(bytes, at: offset)
            } catch  where error.code == .contentChanged {
                throw FetchError(.badOrigin, "\(location.url.redacted) has changed at the origin", underlying: error)
            } catch {
                throw FetchError(error, about: "no room for \(location.url.redacted)")
            }
            if file.written >= body.nextRoomCheck {
                try checkRoom()
            }
        } catch {
            refusal = error
            body.isSound = false
            throw error
        }
    }

    /// A resource has any size, so the disk may fill while it arrives. A player gets the rest, which is not stored then.
    private func checkRoom() throws(FetchError) {
        body.nextRoomCheck = file.written + BodyEvidence.roomCheckStep
        guard let folder, keepFailure == nil, let failure = committer?.roomFailure(in: folder) else { return }
        guard state.urgency == .playback else {
            throw FetchError(failure, about: "no room for \(location.url.redacted)")
        }
        storageFailure = failure
    }

    /// Every byte has arrived: checks the body, and stores it or fails.
    /// - Parameter count: the number of bytes that the origin has sent.
    func complete(_ count: Int64) {
        if let fault = fault(count) {
            body.isSound = false
            return end(.failure(fault))
        }
        let isProvenEmpty = file.written == 0 && emptyAnswer == .content
        if !isProvenEmpty, file.written == 0 || seemsCut {
            switch body.judgeCut(at: file.written, by: response) {
            case .accepted: break
            case .refused: return end(.failure(cutFailure))
            case .repeated:
                // The last bytes are enough to see where it ends.
                response.beginRepetition(isContinued: file.written > 0 && transfer?.isContinuable ?? false)
                return perform(state.repeatRequest(hasUntriedSource: hasUntriedSource))
            }
        }
        response.complete(length: file.written)
        alternates?.recordArrival()
        if folder != nil, !body.isBeginningChecked, wholeVerdict == .unknown {
            let picture = MediaRecognition.pictureName(file.bytes(from: 0, count: MediaSignature.length))
            var what = ""
            if let picture {
                what = "\(picture), and "
            }
            let error = FetchError(
                .badOrigin, "\(location.url.redacted) is not stored, because it is \(what)no media that Weir recognizes"
            )
            // A player may know what it is, and has been sent it.
            guard state.urgency == .playback else {
                body.isSound = false
                return end(.failure(error))
            }
            contentError = error
        }
        commit()
    }

    private var cutFailure: FetchError {
        FetchError(
            .badOrigin,
            "\(location.url.redacted) is not stored, because it ends inside its media after \(file.written) bytes, and the "
                + "origin does not show that this is its end: asked twice, it gave two lengths, or none. Try again later, or "
                + "report it to whoever runs the origin",
            underlying: OriginError(.cutShort, url: location.url))
    }

    private func fault(_ count: Int64) -> FetchError? {
        if case let expected = resource.exactLength ?? file.written, count != expected || file.written != expected {
            return FetchError(.badOrigin, "\(location.url.redacted) has \(count) bytes, not \(expected)")
        }
        if case .key = resource.name.role, let reason = KeyBody.fault(beginningOfKey) {
            return FetchError(.badOrigin, "\(location.url.redacted) \(reason)")
        }
        if let expectation {
            let bytes = beginningOfKey
            guard bytes.withUnsafeBytes({ Digest(of: $0) }) == expectation else {
                return FetchError(
                    .badOrigin,
                    "\(location.url.redacted) has changed at the origin: it is another key than that of the stored segments"
                )
            }
        }
        // An encoder that ends may leave an empty last segment, and subtitles have nothing where nobody speaks.
        if file.written == 0, !response.isStatedEmpty || emptyAnswer == .fault {
            return FetchError(.badOrigin, "\(location.url.redacted) is empty")
        }
        // The first bytes arrived in parts too small to check.
        return body.isBeginningChecked ? nil : fault(wholeVerdict)
    }

    private var emptyAnswer: EmptyAnswer { alternates?.emptyAnswer ?? .fault }

    private var beginningOfKey: [UInt8] { Array(file.prefix(Int(min(file.written, Resource.Limits.key)))) }

    private func fault(_ verdict: BodyVerdict) -> FetchError? {
        guard case .imposter(let found) = verdict else { return nil }
        let expected = resource.expectedContent ?? "a key"
        return FetchError(.badOrigin, "\(location.url.redacted) was answered with \(found) instead of \(expected)")
    }

    private func verdict(_ beginning: some Collection<UInt8>, isWhole: Bool) -> BodyVerdict {
        var isCiphertext = true
        if let alternates {
            isCiphertext = alternates.encryption != .partial
        }
        return BodyVerdict(of: beginning, as: resource, isWhole: isWhole, isCiphertext: isCiphertext)
    }

    private var wholeVerdict: BodyVerdict {
        let length = MediaRecognition.length
        return verdict(file.prefix(Int(min(file.written, Int64(length)))), isWhole: file.written <= Int64(length))
    }

    /// True if the body ends inside a box, a packet, a frame, a cue or a block, and HTTP has not proven its length. A player that
    /// was told a length gets exactly that, even if more bytes are stored then.
    private var seemsCut: Bool {
        switch resource.name.role {
        case .segment, .initialization: break
        case .key, .passing, .data: return false
        }
        guard resource.range == nil else { return false }
        // A wrong length does no harm that lasts where nothing is stored.
        let isVouched = response.end == .mark || response.end == .length && !isKept
        return extent(isVouched: isVouched).isCut
    }

    private func extent(isVouched: Bool) -> MediaExtent {
        MediaExtent(
            length: file.written, isInBlocks: alternates?.encryption == .inBlocks, isVouched: isVouched
        ) { [file] in file.bytes(from: $0, count: $1) }
    }

    /// Makes a piece of the file, if it is to be one, and ends: at once, or when the disk has taken gathered bytes.
    fileprivate func commit() {
        guard let folder, isKept else { return end(.success(())) }
        transfer = nil
        perform(state.commit())
        // The bundle is being moved.
        guard !folder.isSuspended else { return folder.performWrite { [self] in commit() } }
        if let copied, folder.link(copied.file, of: copied.folder, as: resource.name.description) {
            isPiece = true
            return end(.success(()))
        }
        guard let committer, let gathered = file.handOver() else {
            do {
                try folder.commit(file, as: resource.name.description)
                isPiece = true
            } catch {
                storageFailure = error
            }
            return end(.success(()))
        }
        folder.commit(gathered, as: resource.name.description, by: committer) { [self] failure in
            // The asset may have been removed meanwhile.
            if self.folder != nil {
                if let failure {
                    storageFailure = failure
                } else {
                    isPiece = true
                }
            }
            end(.success(()))
        }
        guard state.phase == .committing else { return }
        notify(.unawaited)
        if committer.hasRoom {
            notify(.arrived)
        }
    }
}
