import Fetching
import HTTPMessage
public import Playlist

/// What a multivariant playlist names beside renditions.
extension Asset {
    /// The number of a session key, which it shares with the EXT-X-KEY of the same URL; nil where it is none that can
    /// be fetched.
    public func number(of key: Key) -> Int? {
        guard key.isFetchable, case .multivariant(_, let base) = entry, let url = try? base.resolving(key.uri) else {
            return nil
        }
        return keys.number(for: url)
    }

    /// The path in the bundle of a session key or session data, if it is there: `keys/0.key`.
    public func storedFile(of reference: MultivariantPlaylist.Reference) -> String? {
        switch reference {
        case .sessionKey(let key):
            guard let number = number(of: key), keys.isUsable(number) else { return nil }
            return path(of: KeyRing.name(number), in: keys.folder)
        case .sessionData(let data):
            guard let name = sessionData.name(of: data) else { return nil }
            return path(of: name, in: sessionData.folder)
        case .variant, .media, .iFrameVariant, .imageVariant, .steering: return nil
        }
    }

    private func path(of name: PieceName, in folder: PieceFolder) -> String? {
        folder.contains(name.description) ? "\(folder.id)/\(name)" : nil
    }
}
