import Downloader
import EventLoop
import Integrity
import Library

extension LibraryService {
    /// The verification of assets.
    public var verifications: any JobService<API.Verification> {
        AssetJobs(self, start: verify, look: verification, stop: cancelVerification)
    }

    private func verify(_ asset: Asset, _ request: API.VerificationRequest) throws(ControlError) {
        do throws(LibraryError) {
            _ = try downloader.verifier.start(asset, isRepair: request.repair ?? false)
        } catch {
            throw ControlError(error, asset: asset.name)
        }
    }

    private func verification(of asset: Asset) -> API.Verification {
        if let job = downloader.verifier.job(of: asset) { return API.Verification(job) }
        var shape = API.Verification(asset: asset.name, state: .none)
        shape.verified = asset.verified.map { Int($0) }
        return shape
    }

    private func cancelVerification(of asset: Asset) {
        downloader.verifier.job(of: asset).map(downloader.verifier.cancel)
    }
}
