import EventLoop
import Fetching

extension LibraryError {
    /// The error of playback without the origin, for an asset of which too little is stored.
    /// - Parameter seconds: of media that could be played.
    @LoopActor package static func nothingStored(of asset: Asset, but seconds: Double = 0) -> LibraryError {
        if let expiry = asset.keyExpiry {
            return expiry
        }
        if asset.isLive {
            return LibraryError(
                .notStored, "\(asset.name) is live, so that it plays only online; \"weir get --record\" records it")
        }

        var stored = "nothing of \(asset.name) is completely stored"
        if seconds > 0 {
            stored += " and only \(Int(seconds.rounded())) s can be played"
        }
        return LibraryError(.notStored, "\(stored); \"weir get\" fetches it")
    }
}
