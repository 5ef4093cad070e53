package import Assets
package import EventLoop
import Fetching
import Glibc
import HLS
import Store

/// A stored segment of a film with what its decoding needs: its initialization section, and its key.
///
/// The files are open until `read()`, which is called once.
@LoopActor package struct StoredSegment: Sendable {
    /// The segment, and the section that comes before it.
    private let segment: Int32
    private let section: Int32?
    private let cipher: Cipher?

    private struct Cipher: Sendable {
        let key: [UInt8]
        let vector: [UInt8]
    }

    /// The longest segment that is read, in bytes.
    private nonisolated static let limit = 32 << 20

    /// Stored segments of an asset's film, those that say most about it first: about a fifth into each stored quality.
    package static func candidates(of asset: Asset) async -> [StoredSegment] {
        let variants = Set(asset.multivariant?.variants.map(\.renditionIndex) ?? [])
        let media = asset.renditions.filter { rendition in
            rendition.name.content == .media && !rendition.name.isIFramesOnly && rendition.hasStoredMedia
        }
        let pictures = media.filter { variants.isEmpty || variants.contains($0.index) }
        var found: [StoredSegment] = []
        for rendition in pictures.prefix(most) {
            if let segment = await rendition.storedSegment() {
                found.append(segment)
            }
        }
        return found
    }

    private static let most = 2

    /// The tracks of thumbnails of which anything is stored, those that the user attached first.
    package static func thumbnailTracks(of asset: Asset) -> [Rendition] {
        let tracks = asset.content.additions.sorted + asset.content.images
        return tracks.filter { $0.name.content == .images && $0.hasStoredMedia }
    }

    /// Stored thumbnails of an asset, those that the user attached first, each about a fifth into the film.
    package static func thumbnails(of asset: Asset) async -> [(picture: StoredSegment, tile: ThumbnailTile?)] {
        var found: [(picture: StoredSegment, tile: ThumbnailTile?)] = []
        for rendition in thumbnailTracks(of: asset) {
            guard let chosen = await rendition.chosenSegment(), let picture = StoredSegment(chosen, of: rendition)
            else {
                continue
            }
            let text = rendition.source?.playlist.text.write() ?? []
            found.append((picture, ThumbnailTile(of: chosen, in: text)))
        }
        return found
    }

    fileprivate init?(_ segment: Segment, of rendition: Rendition) {
        var cipher: Cipher?
        if let key = segment.keys.first(where: { $0.method != .none }) {
            guard key.method == .aes128, let number = rendition.number(of: key) else { return nil }
            let secret = rendition.keys.folder.beginning(of: KeyRing.name(number).description, count: 16)
            cipher = Cipher(key: secret, vector: key.vector(for: segment))
        }
        guard let file = rendition.folder.open(rendition.file(of: segment)) else { return nil }
        var section: Int32?
        if let map = segment.map {
            section = rendition.folder.open(rendition.name(of: map).description)
            guard section != nil else {
                close(file)
                return nil
            }
        }
        self.segment = file
        self.section = section
        self.cipher = cipher
    }

    /// Reads both, decrypted, and closes the files; nil if they cannot be read. Blocks.
    nonisolated package func read() -> [UInt8]? {
        var first: [UInt8]? = []
        if let section {
            first = Self.contents(of: section)
        }
        let rest = Self.contents(of: segment)
        guard let first, let rest else { return nil }
        guard let cipher else { return first + rest }
        let clear = SegmentCipher.decrypted(rest, key: cipher.key, vector: cipher.vector)
        return clear.map { first + $0 }
    }

    private nonisolated static func contents(of file: Int32) -> [UInt8]? {
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_size <= limit else { return nil }
        let count = Int(status.st_size)
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            used = max(0, pread(file, buffer.baseAddress, count, 0))
        }
        guard bytes.count == count else { return nil }
        return bytes
    }
}

extension Rendition {
    @LoopActor fileprivate var hasStoredMedia: Bool { folder.bytes > 0 }

    /// A stored segment about a fifth into what is stored, with what its decoding needs.
    @LoopActor fileprivate func storedSegment() async -> StoredSegment? {
        guard let segment = await chosenSegment() else { return nil }
        return StoredSegment(segment, of: self)
    }

    /// A segment about a fifth into what is stored. It is verified before.
    @LoopActor fileprivate func chosenSegment() async -> Segment? {
        guard let source, source.isDurable else { return nil }
        let stored = source.playlist.segments.filter { !$0.isGap && folder.contains(file(of: $0)) }
        guard !stored.isEmpty else { return nil }
        let segment = stored[stored.count / 5]
        var needed = [file(of: segment)]
        if let map = segment.map {
            needed.append(name(of: map).description)
        }
        guard await folder.verifiedIdentities(of: needed).count == needed.count else { return nil }
        return segment
    }
}
