import Assets
import Downloads
import EventLoop
import HTTPMessage
import Integrity
import Orders
import Origin
import Sharing
import Store
import WeirAPI

extension LibraryService {
    var verifications: AssetJobs<API.Verification> {
        AssetJobs(self, start: verify, look: verification, stop: cancelVerification)
    }

    private func verify(_ asset: Asset, _ request: API.VerificationRequest) throws(APIError) {
        do throws(LibraryError) {
            _ = try downloader.integrity.start(asset, isRepair: request.repair ?? false)
        } catch {
            throw APIError(error, asset: asset.name)
        }
    }

    private func verification(of asset: Asset) -> API.Verification {
        if let job = downloader.integrity.jobs[asset] {
            return API.Verification(job)
        }
        var shape = API.Verification(asset: asset.name, state: nil)
        shape.verified = asset.verified.map { Int($0) }
        return shape
    }

    private func cancelVerification(of asset: Asset) {
        downloader.integrity.jobs[asset].map(downloader.integrity.cancel)
    }
}

extension API.Verification {
    /// Converts a verification. Once everything is read, the findings are worked out from the playlists and folders.
    @LoopActor init(_ job: VerificationJob) {
        let verification = job.verification
        self.init(asset: job.asset.name, state: job.state)
        isRepair = job.isRepair
        if job.isRepairing {
            isRepairing = true
        }
        bytes = Int(verification.pace.bytes)
        totalBytes = Int(verification.totalBytes)
        found = job.found
        verified = job.asset.verified.map { Int($0) }
        error = job.failure.map { .init(code: APIError.Code($0.code), message: $0.message) }
        guard job.state.isFinal else { return }
        let report = verification.report
        remaining = report.remaining
        parts = report.parts.map(Part.init)
    }
}

extension API.Verification.Part {
    fileprivate init(_ part: VerificationReport.Part) {
        self.init(
            id: part.id, pieces: part.pieces, bytes: Int(part.bytes),
            loaded: part.stored.map(API.Download.TimeRange.init))
        remaining = part.remaining
        holes = part.holes.map { hole in
            .init(
                time: hole.time.map(API.Download.TimeRange.init), first: hole.first, last: hole.last,
                count: hole.count, isSelected: hole.isWanted)
        }
        mismatches = part.mismatches.map { mismatch in
            .init(
                file: mismatch.file, time: mismatch.time.map(API.Download.TimeRange.init),
                fault: mismatch.fault.rawValue, isRepaired: mismatch.isRepaired)
        }
    }
}

extension API.Download.TimeRange {
    fileprivate init(_ range: Range<Double>) { self.init(start: range.lowerBound, end: range.upperBound) }
}

extension LibraryService {
    /// The service for moves to other disks. Starting one throws `.busy` and `.cannotWrite`.
    var moves: AssetJobs<API.Move> { AssetJobs(self, start: move, look: move, stop: cancelMove) }

    private func move(_ asset: Asset, _ request: API.MoveRequest) throws(APIError) {
        do throws(ExchangeError) {
            if let job = downloader.integrity.jobs[asset], !job.state.isFinal {
                guard downloader.integrity.cancelIfPeriodic(job) else {
                    throw ExchangeError(.busy, "\(asset.name) cannot be moved while it is verified")
                }
            }
            _ = try exchange.mover.move(asset, to: request.path)
        } catch {
            throw APIError(error, asset: asset.name)
        }
    }

    private func move(of asset: Asset) -> API.Move {
        exchange.mover.jobs[asset].map(API.Move.init) ?? API.Move(asset: asset.name, state: nil)
    }

    private func cancelMove(of asset: Asset) { exchange.mover.jobs[asset]?.cancel() }
}

extension API.Move {
    @LoopActor init(_ move: Move) {
        self.init(asset: move.asset.name, state: move.state)
        path = move.path
        bytes = Int(move.pace.bytes)
        totalBytes = Int(move.totalBytes)
        if move.leftOut > 0 {
            damagedPieces = move.leftOut
        }
        error = move.failure.map {
            let error = APIError($0, asset: move.asset.name)
            return .init(code: error.code, message: error.message)
        }
    }
}

extension LibraryService {
    /// The service for publications. Starting one throws `.badTarget`, `.originRefused` without keys, `.noProgram`, and
    /// `.targetExists` while the asset is published elsewhere.
    var publications: AssetJobs<API.Publication> {
        AssetJobs(self, start: publish, look: publication, stop: cancelPublication)
    }

    private func publish(_ asset: Asset, _ request: API.PublicationRequest) throws(APIError) {
        let access = try Self.access(request)
        do throws(ExchangeError) {
            _ = try exchange.publications.publish(asset, to: request.target, access: access)
        } catch {
            throw APIError(publishing: error, asset: asset.name)
        }
    }

    private func publication(of asset: Asset) -> API.Publication {
        let publication = exchange.publications.jobs[asset]
        return publication.map(API.Publication.init) ?? .init(asset: asset.name, state: nil)
    }

    private func cancelPublication(of asset: Asset) { exchange.publications.jobs[asset]?.cancel() }

    /// Reads the request's access to an object store; nil without keys. No message contains any part of a key.
    private static func access(_ request: API.PublicationRequest) throws(APIError) -> BucketAccess? {
        guard let keys = request.keys else { return nil }
        let isToken = { (text: String) in !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
        guard isToken(keys.accessKey), isToken(keys.secretKey), keys.sessionToken.map(isToken) ?? true else {
            throw APIError(.badRequest, "a key for the object store is empty or contains a blank")
        }
        var endpoint: WebURL?
        if let text = request.endpoint {
            guard let url = try? WebURL(text), url.path == "/", url.query == nil else {
                throw APIError(
                    .badRequest, "the endpoint is not the http:// or https:// URL of a server, without a path")
            }
            endpoint = url
        }
        let signature = RequestSignature(
            accessKey: keys.accessKey, secretKey: keys.secretKey, sessionToken: keys.sessionToken,
            region: request.region ?? "us-east-1")
        return BucketAccess(signature, endpoint: endpoint)
    }
}

extension APIError {
    /// Creates the error of a publication, with the next step.
    init(publishing error: ExchangeError, asset: String) {
        let general = APIError(error, asset: asset)
        let again = "repeat the command: it continues where it stopped"
        let next: String? =
            switch general.code {
            case .originRefused:
                "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and their permissions in the bucket"
            case .targetExists: "choose another target, such as a folder in this one"
            case .badTarget: "check the target, for a bucket also --endpoint and --region"
            case .badOrigin: "check --endpoint: is it an object store with S3's API?"
            case .originAbsent: again
            case .diskFull: "free space there, then \(again)"
            case .noProgram: "install rsync where the daemon runs, or publish to a folder"
            case .incomplete: "weir verify \(asset) --repair, or fetch the rest with: weir get \(asset)"
            default: general.next
            }
        self.init(general.code, general.message, next: next, underlying: general.underlying)
    }
}

extension API.Publication {
    @LoopActor init(_ publication: Publication) {
        self.init(asset: publication.asset.name, state: publication.state)
        target = publication.target
        totalFiles = publication.total.files
        totalBytes = Int(publication.total.bytes)
        files = publication.present.files
        bytes = Int(publication.present.bytes)
        sentFiles = publication.sent.files
        sentBytes = Int(publication.sent.bytes)
        deletedFiles = publication.deleted
        error = publication.failure.map {
            API.Problem(APIError(publishing: $0, asset: publication.asset.name))
        }
    }
}
