import EventLoop
import Exchange
import HTTPMessage
import Library
import Origin

extension LibraryService {
    /// The publication of what is whole of assets; begins with `.badTarget`, `.originRefused` without keys for an object
    /// store, `.noProgram`, and `.targetExists` while it is published elsewhere.
    public var publications: any JobService<API.Publication> {
        AssetJobs(self, start: publish, look: publication, stop: cancelPublication)
    }

    private func publish(_ asset: Asset, _ request: API.PublicationRequest) throws(ControlError) {
        let access = try Self.access(request)
        do throws(ExchangeError) {
            _ = try exchange.publications.publish(asset, to: request.target, access: access)
        } catch {
            throw ControlError(publishing: error, asset: asset.name)
        }
    }

    private func publication(of asset: Asset) -> API.Publication {
        let publication = exchange.publications.publication(of: asset)
        return publication.map(API.Publication.init) ?? .init(asset: asset.name, state: .none)
    }

    private func cancelPublication(of asset: Asset) { exchange.publications.publication(of: asset)?.cancel() }

    /// How an object store is asked; nil without keys. Nothing of a key is in a message.
    private static func access(_ request: API.PublicationRequest) throws(ControlError) -> BucketAccess? {
        guard let keys = request.keys else { return nil }
        let isToken = { (text: String) in !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
        guard isToken(keys.accessKey), isToken(keys.secretKey), keys.sessionToken.map(isToken) ?? true else {
            throw ControlError(.badRequest, "the keys for the object store are none: empty, or with blanks in them")
        }
        var endpoint: WebURL?
        if let text = request.endpoint {
            guard let url = try? WebURL(text), url.path == "/", url.query == nil else {
                throw ControlError(.badRequest, "the endpoint is no http:// or https:// URL of a server alone")
            }
            endpoint = url
        }
        let signature = RequestSignature(
            accessKey: keys.accessKey, secretKey: keys.secretKey, sessionToken: keys.sessionToken,
            region: request.region ?? "us-east-1")
        return BucketAccess(signature, endpoint: endpoint)
    }
}

extension ControlError {
    /// Why an asset is not published, and what to try then.
    init(publishing error: ExchangeError, asset: String) {
        let general = ControlError(error, asset: asset)
        let again = "the same command again: it goes on where it was"
        let next: String? =
            switch general.code {
            case .originRefused:
                "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what they are allowed in the bucket"
            case .targetExists: "a place of its own, such as a folder in that one"
            case .badTarget: "check the place, for a bucket also --endpoint and --region"
            case .badOrigin: "check --endpoint: is it an object store with S3's API?"
            case .originAbsent: again
            case .diskFull: "make room there, then \(again)"
            case .noProgram: "install rsync where the daemon runs, or publish to a folder"
            case .offline: "weir mode auto, then the same command"
            case .notWhole: "weir verify \(asset) --repair, or fetch the rest with: weir get \(asset)"
            default: general.next
            }
        self.init(general.code, general.message, next: next, underlying: general.underlying)
    }
}

extension API.Publication {
    @LoopActor init(_ publication: Publication) {
        self.init(asset: publication.asset.name, state: .init(publication.state))
        target = publication.target
        (totalFiles, totalBytes) = (publication.total.files, Int(publication.total.bytes))
        (files, bytes) = (publication.present.files, Int(publication.present.bytes))
        (sentFiles, sentBytes) = (publication.sent.files, Int(publication.sent.bytes))
        deletedFiles = publication.deleted
        error = publication.failure.map {
            API.Problem(ControlError(publishing: $0, asset: publication.asset.name))
        }
    }
}
