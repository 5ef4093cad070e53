import EventLoop
import Fetching
import HTTPMessage
import Origin
import Playlist
import SegmentFormat
import Store

/// Looks for other content of the origin: because the user asks, or before something is fetched into an asset that has pieces.
extension Revisions {
    private enum Comparison {
        case same
        case other
        /// The origin did not show it.
        case unknown
    }

    /// A stored piece that is compared.
    private struct Sample {
        let folder: PieceFolder
        let resource: Resource
        let size: Int64

        @LoopActor init?(_ name: PieceName, of rendition: Rendition) {
            guard let resource = rendition.resource(named: name),
                let size = rendition.folder.sizes[name.description], size > 0
            else { return nil }
            (folder, self.resource, self.size) = (rendition.folder, resource, size)
        }
    }

    /// Bytes of a segment that are compared. Encodings of other content differ within them.
    private static let probeBytes: Int64 = 4096
    private static let limit = Duration.seconds(10)
    /// Seconds in which a change may stay unnoticed while something is fetched: a minute between two comparisons, and their duration.
    private static let unnoticed = 90.0
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
        if asset.isLoaded, sample(of: asset, preferring: []) == nil {
            return library.revisionChecks.recordCheck(of: asset)
        }
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

    /// Watches a fetch. Its piece may be of other content than the earlier ones until the next comparison, which comes at once
    /// if the origin's times give reason for it.
    func watch(_ fetch: Fetch, in folder: PieceFolder, of asset: Asset) {
        guard asset.library != nil, !asset.isRecording, !asset.isImported, !asset.isLive else { return }
        fetch.whenEnded { [weak fetch, weak asset] _ in
            guard let fetch, let asset, fetch.isPiece, !asset.isRemoved, asset.rendition(folder.id) != nil else {
                return
            }
            let name = fetch.resource.name
            guard name.isSegment else { return }
            // It was requested before the change was noticed, and nobody knows of which content it is.
            if asset.hasOtherSegments { return folder.removePieces { $0 == name } }
            let piece = UncomparedPieces.Piece(folder: folder.id, file: name.description)
            guard library.revisionChecks.record(piece, fetch.originTimes, of: asset) else { return }
            Task { @LoopActor in await compareNow(asset) }
        }
    }

    /// Compares once more at the end of a download that has taken some time: no piece of new content stays among those of the old.
    package func checkAtEnd(of asset: Asset) async { await compareNow(asset) }

    /// True if `checkAtEnd` sends a request.
    package func isCheckDueAtEnd(of asset: Asset) -> Bool {
        asset.library != nil && !asset.isRecording && !asset.isImported && !asset.isLive && !library.isOffline
            && !asset.hasOtherSegments && library.revisionChecks.isDueAtEnd(asset)
    }

    private func compareNow(_ asset: Asset) async {
        let checks = library.revisionChecks
        _ = await checks.running.run(ObjectIdentifier(asset)) {
            defer {
                checks.recordCheck(of: asset)
                checks.settleHint(of: asset)
            }
            return await probe(asset, within: Self.waitingLimit)
        }
    }

    /// Deletes the pieces that were stored since the content changed. The earlier ones differ from the origin's now, so that a
    /// search finds the first later one.
    private func discardNew(of asset: Asset) async {
        let checks = library.revisionChecks
        let uncompared = checks.pieces(of: asset)
        var (low, high) = (0, uncompared.pieces.count)
        while low < high {
            let middle = (low + high) / 2
            switch await comparison(of: uncompared.pieces[middle], of: asset) {
            case .other: low = middle + 1
            case .same: high = middle
            // The times on the disk are no proof of the order, as in a copied store: only what is the same is new.
            case .unknown where uncompared.hasRestored: return checks.forgetPieces(of: asset)
            case .unknown: high = middle
            }
        }
        guard !asset.isRemoved else { return }
        let new = Set(checks.pieces(of: asset).pieces.dropFirst(low))
        for rendition in asset.renditions where new.contains(where: { $0.folder == rendition.folder.id }) {
            rendition.folder.removePieces {
                new.contains(UncomparedPieces.Piece(folder: rendition.folder.id, file: $0.description))
            }
        }
        checks.forgetPieces(of: asset)
    }

    private func comparison(of piece: UncomparedPieces.Piece, of asset: Asset) async -> Comparison {
        guard let rendition = asset.rendition(piece.folder), let name = PieceName(piece.file),
            let sample = Sample(name, of: rendition)
        else { return .unknown }
        return await compare(sample, of: asset, within: Self.waitingLimit).result
    }

    /// Takes the last pieces of the process before this one as not compared: it may have ended between a change and its notice.
    /// A complete rendition was compared at its end.
    private func restorePieces(of asset: Asset) async {
        var stored: [(piece: UncomparedPieces.Piece, time: Double)] = []
        for rendition in asset.renditions where !rendition.isComplete && rendition.folder.bytes > 0 {
            for (file, time) in await rendition.folder.storingTimes() where PieceName(file)?.isSegment ?? false {
                stored.append((.init(folder: rendition.folder.id, file: file), time))
            }
        }
        let last = stored.map(\.time).max() ?? 0
        let late = stored.filter { $0.time >= last - Self.unnoticed }.sorted { $0.time < $1.time }
        library.revisionChecks.restore(late.map(\.piece), of: asset)
    }

    private func isCheckDue(of asset: Asset, isStart: Bool = false) -> Bool {
        // One that is not registered is a preview.
        asset.library != nil && library.revisionChecks.isDue(asset, isStart: isStart) && !library.isOffline
            && !asset.hasOtherSegments && !library.client.isPresumedAbsent(asset.origin)
    }

    /// Compares a stored segment with the origin's. False if the origin did not show whether its content is the same.
    private func probe(
        _ asset: Asset, preferring renditions: [Rendition] = [], within limit: Duration
    ) async -> Bool {
        let checks = library.revisionChecks
        if !checks.pieces(of: asset).isRestored { await restorePieces(of: asset) }
        guard let sample = sample(of: asset, preferring: renditions) else {
            checks.forgetPieces(of: asset)
            return true
        }
        checks.recordRequest(for: asset)
        let count = checks.pieces(of: asset).pieces.count
        let comparison = await compare(sample, of: asset, within: limit, mark: checks.mark(of: asset))
        switch comparison.result {
        case .unknown: return false
        case .other:
            library.playlists.reportOtherSegments(of: asset)
            await discardNew(of: asset)
        case .same:
            if let head = comparison.head, head.status != 304 {
                let (folder, file) = (sample.folder.id, sample.resource.name.description)
                checks.record(
                    .init(folder: folder, file: file, tag: head[.entityTag], modified: head[.lastModified]), of: asset)
            }
            asset.hasOtherSegments = false
            checks.recordSame(
                asset, first: count, at: comparison.head.flatMap { head in head[.date].flatMap { HTTPDate($0) } })
        }
        return true
    }

    /// Compares the length and the first bytes of a stored piece with the origin's, by one small request for a range. Where the
    /// origin's validators are known, the request is conditional, and an unchanged piece comes without a body.
    private func compare(
        _ sample: Sample, of asset: Asset, within limit: Duration, mark: RevisionChecks.Mark? = nil
    ) async -> (result: Comparison, head: OriginHead?) {
        let file = sample.resource.name.description
        let count = min(sample.size, Self.probeBytes)
        let start = sample.resource.range?.lowerBound ?? 0
        var request = OriginRequest(sample.resource.url)
        asset.access.grant(to: &request)
        request.range = start..<start + count
        // Where the origin knows no ranges, a second request would bring as many bytes in vain.
        request.acceptsWhole = true
        (request.deadline, request.retries) = (limit, .hasty)
        if let mark, mark.folder == sample.folder.id, mark.file == file {
            request.fields.append(mark.condition)
            request.acceptsRefusals = true
        }
        guard let (head, bytes) = try? await library.client.fetch(request), !asset.isRemoved,
            sample.folder.sizes[file] == sample.size
        else { return (.unknown, nil) }
        if head.status == 304 { return (.same, head) }
        guard head.status < 300 else { return (.unknown, head) }
        let stored = sample.folder.beginning(of: file, count: Int(count))
        guard !stored.isEmpty else { return (.unknown, head) }
        let length = sample.resource.range == nil ? Self.wholeLength(head) : nil
        if bytes == stored, (length ?? sample.size) == sample.size { return (.same, head) }
        // A page in place of media, such as that of a hotel's network, says nothing about the media.
        let isMedia = MediaRecognition.recognises(bytes, isWhole: false)
        let isCiphertext = !MediaRecognition.recognises(stored, isWhole: false)
        return (isMedia || isCiphertext && head.status == 206 ? .other : .unknown, head)
    }

    /// The middle one of the stored segments of the rendition with the most bytes: the first ones may be a common title, and
    /// subtitles may stay while the picture changes. An early one if all were stored since the last comparison.
    private func sample(of asset: Asset, preferring renditions: [Rendition]) -> Sample? {
        let uncompared = library.revisionChecks.pieces(of: asset)
        return sample(of: renditions, uncompared) ?? sample(of: asset.renditions, uncompared)
    }

    private func sample(of renditions: [Rendition], _ uncompared: UncomparedPieces) -> Sample? {
        let durable = renditions.filter { ($0.source?.isDurable ?? false) && !$0.name.isIFramesOnly }
        guard let rendition = durable.max(by: { $0.folder.bytes < $1.folder.bytes }) else { return nil }
        let folder = rendition.folder
        let names = folder.sizes.keys.compactMap { PieceName($0) }.filter(\.isSegment)
        // One that was stored after a change would be the same.
        let old = names.filter { !uncompared.contains($0.description, of: folder.id) }
            .sorted { $0.role.number < $1.role.number }
        let chosen = old.isEmpty ? uncompared.early(in: folder.id) : old[old.count / 2]
        return chosen.flatMap { Sample($0, of: rendition) }
    }

    /// The length of the resource of which a reply has a range or the beginning; nil if the reply does not say.
    private static func wholeLength(_ head: OriginHead) -> Int64? {
        if head.status == 200 { return head[.contentLength].flatMap { Int64($0) } }
        guard head.status == 206, let field = head[.contentRange] else { return nil }
        return field.split(separator: "/").last.flatMap { Int64($0) }
    }
}
