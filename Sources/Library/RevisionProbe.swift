import EventLoop
import Fetching
import HTTPMessage
import Origin
import Playlist
import Store

/// Looks for other content of the origin, because the user asks.
extension Revisions {
    /// Bytes of a segment that are compared. Encodings of other content differ within them.
    private static let probeBytes: Int64 = 4096
    private static let limit = Duration.seconds(10)

    /// Looks whether the origin has other content than the store: other playlists, or other segments under the same URLs. Then
    /// `hasChanged` is true from now on, and nothing more is fetched into the asset.
    /// - Returns: false if the origin did not show whether its content is the same.
    @discardableResult package func check(_ asset: Asset) async -> Bool {
        asset.load()
        guard !asset.isRevision, !asset.isRecorded, !asset.isImported, !asset.isLive, !library.isOffline else {
            return false
        }
        await library.playlists.checkContent(of: asset.renditions.filter { $0.folder.bytes > 0 }, in: asset)
        if !asset.hasChanged || asset.hasOtherSegments { return await probe(asset) }
        return true
    }

    /// Compares the length and the first bytes of a stored segment with the origin's, by one small request for a range.
    /// False if the origin did not send that range.
    private func probe(_ asset: Asset) async -> Bool {
        guard let sample = sample(of: asset) else { return true }
        let file = sample.resource.name.description
        let count = min(sample.size, Self.probeBytes)
        let start = sample.resource.range?.lowerBound ?? 0
        var request = OriginRequest(sample.resource.url)
        asset.access.grant(to: &request)
        request.range = start..<start + count
        (request.deadline, request.retries) = (Self.limit, .hasty)
        guard let (head, bytes) = try? await library.client.fetch(request), !asset.isRemoved,
            sample.folder.sizes[file] == sample.size
        else { return false }
        let stored = sample.folder.beginning(of: file, count: Int(count))
        guard !stored.isEmpty else { return false }
        let length = sample.resource.range == nil ? Self.wholeLength(head) : nil
        let isSame = bytes == stored && (length ?? sample.size) == sample.size
        if isSame { asset.hasOtherSegments = false } else { library.playlists.reportOtherSegments(of: asset) }
        return true
    }

    /// The middle one of the stored segments of the rendition that has the most: the first ones may be a common title.
    private func sample(of asset: Asset) -> (folder: PieceFolder, resource: Resource, size: Int64)? {
        let durable = asset.renditions.filter { ($0.source?.isDurable ?? false) && !$0.name.isIFramesOnly }
        guard let rendition = durable.max(by: { $0.folder.sizes.count < $1.folder.sizes.count }) else { return nil }
        let names = rendition.folder.sizes.keys.compactMap { PieceName($0) }.filter { name in
            if case .segment = name.role { true } else { false }
        }.sorted { $0.role.number < $1.role.number }
        guard !names.isEmpty else { return nil }
        let name = names[names.count / 2]
        guard let resource = rendition.resource(named: name), let size = rendition.folder.sizes[name.description],
            size > 0
        else { return nil }
        return (rendition.folder, resource, size)
    }

    /// The length of the resource of which a reply has a range; nil if the reply does not say.
    private static func wholeLength(_ head: OriginHead) -> Int64? {
        guard head.status == 206, let field = head[.contentRange] else { return nil }
        return field.split(separator: "/").last.flatMap { Int64($0) }
    }
}
