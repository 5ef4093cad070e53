import EventLoop
import Fetching
import PlaylistCheck
import Store

extension Intake {
    /// Lets the asset keep what another Weir says of it: its policy, and what becomes of its keys, which may have other
    /// numbers here.
    func adopt(_ identity: BundleIdentity) {
        if let policy = identity.policy {
            (asset.life.policy, asset.life.firstPlayed) = (policy, identity.firstPlayed)
        }
        let lives = Dictionary((identity.keys ?? []).map { ($0.number, $0.life) }) { $1 }
        for piece in pieces where piece.folder == asset.keys.folder.id {
            guard case .key(let number)? = PieceName(piece.file)?.role,
                case .key(let former)? = PieceName(piece.source.components.last ?? "")?.role, let life = lives[former]
            else { continue }
            asset.keys.change(number) { $0 = life }
        }
    }
}
