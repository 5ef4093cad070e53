import EventLoop
import Fetching
import HTTPMessage
import Origin
import Playlist
import SegmentFormat
import Store

/// Looks for other content of the origin: because the user asks, or before something is fetched into an asset that has pieces.
extension Revisions {
    /// Bytes of a segment that are compared. Encodings of other content differ within them.
    private static let probeBytes: Int64 = 4096
    private static let limit = Duration.seconds(10)
    /// The limit while a player or a download waits.
    private static let waitingLimit = Duration.seconds(4)

    /// Looks whether the origin has other content than the store: other playlists, or other segments under the same URLs. Then
    /// `hasChanged` is true from now on, and nothing more is fetched into the asset.
    /// - Returns: false if the origin did not show whether its content is the same.
    @discardableResult package func check(_ asset: Asset) async -> Bool {
        asset.load()
        guard !asset.isRevision, !asset.isRecorded, !asset.isImported, !asset.isLive, !library.isOffline else {
            return false
        }
        await library.playlists.checkContent(of: asset.renditions.filter { $0.folder.bytes > 0 }, in: asset)
        if !asset.hasChanged || asset.hasOtherSegments { return await probe(asset, within: Self.limit) }
        return true
    }

    /// Compares the stored content with the origin's by one small request, unless that was done a short time ago in this
    /// process. If the origin has other content, `hasChanged` is true from now on, and nothing more is fetched into the asset.
    /// Sends nothing if no segment is stored: then what comes is of one revision.
    /// - Parameters:
    ///   - renditions: those into which is fetched. Their pieces are compared before others.
    ///   - isStart: true if the user begins a download or a session: then the last comparison may be seconds old at most.
    package func checkBeforeFetching(into asset: Asset, _ renditions: [Rendition] = [], isStart: Bool = false) async {
        let checks = library.revisionChecks
        guard isCheckDue(of: asset, isStart: isStart) || checks.running.isRunning(ObjectIdentifier(asset)) else {
            return
        }
        _ = await checks.running.run(ObjectIdentifier(asset)) {
            asset.load()
            defer { checks.recordCheck(of: asset) }
            guard !asset.isRecorded, !asset.isRecording, !asset.isImported, !asset.isLive, !asset.isPreview else {
                return true
            }
            return await probe(asset, preferring: renditions, within: Self.waitingLimit)
        }
    }

    /// Begins a comparison that is due, while something is fetched into an asset for long.
    func beginCheck(of asset: Asset) {
        guard isCheckDue(of: asset) else { return }
        // All pieces of an empty asset will come from the present revision.
        if asset.isLoaded, sample(of: asset.renditions) == nil { return library.revisionChecks.recordCheck(of: asset) }
        Task { @LoopActor in await checkBeforeFetching(into: asset) }
    }

    /// As `checkBeforeFetching(into:_:)`, if what a player asks of a rendition is not all stored. A complete rendition asks the
    /// origin for nothing.
    package func checkBeforePlaying(_ rendition: Rendition, of asset: Asset) async {
        if !rendition.isComplete { await checkBeforeFetching(into: asset, [rendition], isStart: true) }
    }

    /// True if `checkBeforePlaying` may send a request.
    package func mayCheckBeforePlaying(_ rendition: Rendition, of asset: Asset) -> Bool {
        isCheckDue(of: asset, isStart: true) && !rendition.isComplete && !rendition.isLive
    }

    private func isCheckDue(of asset: Asset, isStart: Bool = false) -> Bool {
        // One that is not registered is a preview.
        asset.library != nil && library.revisionChecks.isDue(asset, isStart: isStart) && !library.isOffline
            && !asset.hasOtherSegments && !library.client.isPresumedAbsent(asset.origin)
    }

    /// Compares the length and the first bytes of a stored segment with the origin's, by one small request for a range.
    /// Where the origin's validators are known, the request is conditional, and an unchanged segment comes without a body.
    /// False if the origin did not send that range.
    private func probe(
        _ asset: Asset, preferring renditions: [Rendition] = [], within limit: Duration
    ) async -> Bool {
        guard let sample = sample(of: asset, preferring: renditions) else { return true }
        let checks = library.revisionChecks
        checks.recordRequest(for: asset)
        let file = sample.resource.name.description
        let count = min(sample.size, Self.probeBytes)
        let start = sample.resource.range?.lowerBound ?? 0
        var request = OriginRequest(sample.resource.url)
        asset.access.grant(to: &request)
        request.range = start..<start + count
        (request.deadline, request.retries) = (limit, .hasty)
        if let mark = checks.mark(of: asset), mark.folder == sample.folder.id, mark.file == file {
            request.fields.append(mark.condition)
            request.acceptsRefusals = true
        }
        guard let (head, bytes) = try? await library.client.fetch(request), !asset.isRemoved,
            sample.folder.sizes[file] == sample.size
        else { return false }
        if head.status == 304 { return true }
        guard head.status < 300 else { return false }
        let stored = sample.folder.beginning(of: file, count: Int(count))
        guard !stored.isEmpty else { return false }
        let length = sample.resource.range == nil ? Self.wholeLength(head) : nil
        let isSame = bytes == stored && (length ?? sample.size) == sample.size
        guard isSame else {
            // A page in place of media, such as that of a hotel's network, says nothing about the media.
            let isMedia = MediaRecognition.recognises(bytes, isWhole: false)
            let isCiphertext = !MediaRecognition.recognises(stored, isWhole: false)
            guard isMedia || isCiphertext && head.status == 206 else { return false }
            library.playlists.reportOtherSegments(of: asset)
            return true
        }
        asset.hasOtherSegments = false
        checks.record(
            .init(folder: sample.folder.id, file: file, tag: head[.entityTag], modified: head[.lastModified]),
            of: asset)
        return true
    }

    /// The middle one of the stored segments of the rendition with the most bytes: the first ones may be a common title, and
    /// subtitles may stay while the picture changes.
    private func sample(
        of asset: Asset, preferring renditions: [Rendition]
    ) -> (folder: PieceFolder, resource: Resource, size: Int64)? {
        sample(of: renditions) ?? sample(of: asset.renditions)
    }

    private func sample(of renditions: [Rendition]) -> (folder: PieceFolder, resource: Resource, size: Int64)? {
        let durable = renditions.filter { ($0.source?.isDurable ?? false) && !$0.name.isIFramesOnly }
        guard let rendition = durable.max(by: { $0.folder.bytes < $1.folder.bytes }) else { return nil }
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
