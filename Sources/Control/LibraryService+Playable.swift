import EventLoop
import Library
import Retention

/// Whether what is stored plays.
extension LibraryService {
    /// Whether an asset plays without its origin, by what is on disk.
    func playable(_ asset: Asset) async -> API.Playable {
        await library.survey(asset)
        do { try retention.checkExpiry(of: asset) } catch { return API.Playable(.no, error.message, duration: nil) }
        let playability = asset.playability
        return API.Playable(.init(playability.answer), playability.reason, duration: playability.seconds)
    }
}

extension API.Playable.Answer {
    fileprivate init(_ answer: Playability.Answer) {
        self =
            switch answer {
            case .yes: .yes
            case .part: .part
            case .no: .no
            }
    }
}
