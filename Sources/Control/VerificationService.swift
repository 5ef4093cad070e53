import Downloader
public import EventLoop
import Library

/// What the control API tells of verifications, and begins and ends.
@LoopActor public protocol VerificationService: AnyObject, Sendable {
    /// Verifies an asset, or attaches to who does; `.noSuchAsset`.
    func verify(assetNamed name: String, _ request: API.VerificationRequest) async throws(ControlError)
        -> API.Verification

    /// How the last verification of an asset stands; `.noSuchAsset`. Cheap while it goes on.
    func verification(ofAsset name: String) async throws(ControlError) -> API.Verification

    /// Gives it up, if it goes on; `.noSuchAsset`.
    func cancelVerification(ofAsset name: String) async throws(ControlError) -> API.Verification
}

extension LibraryService: VerificationService {
    /// See `VerificationService`.
    public func verify(
        assetNamed name: String, _ request: API.VerificationRequest
    ) async throws(ControlError) -> API.Verification {
        let asset = try find(name)
        do throws(LibraryError) {
            let job = try downloader.verifier.start(asset, isRepair: request.repair ?? false)
            return API.Verification(job)
        } catch {
            throw ControlError(error, asset: asset.name)
        }
    }

    /// See `VerificationService`.
    public func verification(ofAsset name: String) async throws(ControlError) -> API.Verification {
        shape(of: downloader.verifier.job(of: try find(name)), try find(name))
    }

    /// See `VerificationService`.
    public func cancelVerification(ofAsset name: String) async throws(ControlError) -> API.Verification {
        let asset = try find(name)
        let job = downloader.verifier.job(of: asset)
        if let job { downloader.verifier.cancel(job) }
        return shape(of: job, asset)
    }

    private func shape(of job: VerificationJob?, _ asset: Asset) -> API.Verification {
        if let job { return API.Verification(job) }
        var shape = API.Verification(asset: asset.name, state: .none)
        shape.verified = asset.verified.map { Int($0) }
        return shape
    }
}
