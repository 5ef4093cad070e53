import Fetching
import HTTPMessage
public import Playlist

/// Finds the files of a multivariant playlist that belong to no rendition.
extension Asset {
    /// The number of a session key, shared with the EXT-X-KEY of the same URL; nil if the key cannot be fetched.
    public func number(of key: Key) -> Int? {
        guard key.isFetchable, case .multivariant(_, let base) = entry, let url = try? base.resolving(key.uri) else {
            return nil
        }
        return keys.number(for: url)
    }

    /// The path in the bundle of a stored session key or session data, for example `keys/0.key`; nil if it is not
    /// stored.
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
