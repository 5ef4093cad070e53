import EventLoop
package import Fetching
import HTTPMessage
import Origin
import Playheads
import Store

/// Looks for other content of the origin: because the user asks, before something is fetched into an asset that has pieces, and
/// when that has ended.
extension Revisions {
    private var limit: Duration { library.client.configuration.giveUpRule.comparisonLimit }
    /// The limit while a player or a download waits.
    private var waitingLimit: Duration { library.client.configuration.giveUpRule.comparisonLimitWhileAwaited }
    /// Seconds in which a change may stay unnoticed while something is fetched: a minute between two comparisons, and their duration.
    private nonisolated static let unnoticed = 90.0

    // MARK: When to look

    /// Looks whether the origin has other content than the store: other playlists, or other segments under the same URLs. Then
    /// `hasChanged` is true from now on, and nothing more is fetched into the asset.
    /// - Returns: false if the origin did not show whether its content is the same.
    @discardableResult package func check(_ asset: Asset) async -> Bool {
        asset.load()
        guard !asset.isRevision, !asset.isRecorded, !asset.isImported, !asset.isLive, !library.isOffline else {
            return false
        }
        await library.playlists.checkContent(of: asset.renditions.filter { $0.folder.bytes > 0 }, in: asset)
        guard !asset.hasChanged || asset.hasOtherSegments else { return true }
        return await compare(asset, isThorough: true, within: limit)
    }

    /// Compares the stored content with the origin's by one small request for each rendition, unless that was done a short time
    /// ago in this process. If the origin has other content, `hasChanged` is true from now on, and nothing more is fetched into
    /// the asset. Sends nothing if nothing is stored: then what comes is of one revision.
    /// - Parameter isStart: true if the user begins a download or a session: then the last comparison may be seconds old at most.
    package func checkBeforeFetching(into asset: Asset, isStart: Bool = false) async {
        let isRunning = library.revisionChecks.running.isRunning(ObjectIdentifier(asset))
        guard isRunning || isCheckDue(of: asset, isStart: isStart) else { return }
        asset.load()
        let isComparedAtStart = isStart && hasSamples(asset)
        await compare(asset, within: waitingLimit)
        if isComparedAtStart {
            library.revisionChecks.recordStart(of: asset, at: library.now())
        }
    }

    /// Begins a comparison that is due, while something is fetched into an asset for long.
    func beginCheck(of asset: Asset) {
        guard isCheckDue(of: asset) else { return }
        // All pieces of an empty asset will come from the present revision.
        if asset.isLoaded, !hasSamples(asset) {
            return library.revisionChecks.recordCheck(of: asset, at: library.now())
        }
        Task { @LoopActor in await checkBeforeFetching(into: asset) }
    }

    /// Begins the comparison at the start of a session that needs more of a rendition than is stored. What is stored is sent
    /// meanwhile; a complete rendition asks the origin for nothing.
    package func beginCheck(beforePlaying rendition: Rendition, of asset: Asset) {
        guard !rendition.isComplete, !rendition.isLive, isCheckDue(of: asset, isStart: true), hasSamples(asset) else {
            return
        }
        Task { @LoopActor in await checkBeforeFetching(into: asset, isStart: true) }
    }

    /// Waits for the comparison that is under way, if there is one: a session that begins now must not get what it discards.
    package func finishComparison(of asset: Asset) async {
        guard library.revisionChecks.running.isRunning(ObjectIdentifier(asset)) else { return }
        await compare(asset, within: waitingLimit)
    }

    /// True if a player's request for a missing piece must wait for `checkBeforeFetching`: otherwise it might get new content
    /// among the old.
    package func mustCheck(beforeFetching name: PieceName, into asset: Asset) -> Bool {
        let checks = library.revisionChecks
        guard name.isMedia, isComparable(asset), !asset.hasOtherSegments else { return false }
        if checks.running.isRunning(ObjectIdentifier(asset)) {
            return true
        }
        return checks.isFirst(of: asset) && isCheckDue(of: asset) && hasSamples(asset)
    }

    /// True if the bytes that a fetch brings may be of other content than the earlier pieces: its reply shows that the file was
    /// changed since. They must not be sent to a player before `settle`.
    package func isSuspect(_ fetch: Fetch, of asset: Asset) -> Bool {
        guard fetch.resource.name.isMedia, isComparable(asset) else { return false }
        if asset.hasOtherSegments {
            return true
        }
        return library.revisionChecks.notice(
            fetch.originTimes, version: fetch.fileVersion, ofFile: fetch.resource.url, of: asset)
    }

    /// True if a stored piece may be of other content than the earlier ones, and must not be sent before `settle`.
    package func isSuspect(_ file: String, in folder: PieceFolder, of asset: Asset) -> Bool {
        library.revisionChecks.isSuspect(UncomparedPieces.Piece(folder: folder.id, file: file), of: asset)
    }

    /// Watches a fetch. Its piece may be of other content than the earlier ones until the next comparison, which comes at once
    /// if its reply gives reason for it, or if it completes its rendition.
    func watch(_ fetch: Fetch, in folder: PieceFolder, of asset: Asset) {
        guard asset.library != nil, !asset.isRecording, !asset.isImported, !asset.isLive else { return }
        fetch.whenEnded { [weak fetch, weak asset] _ in
            guard let fetch, let asset, !asset.isRemoved, let rendition = asset.rendition(folder.id) else { return }
            let name = fetch.resource.name
            // No media behind media that was recognised: it may be encrypted now.
            if fetch.contentError != nil {
                return self.beginComparison(of: asset)
            }
            guard fetch.isPiece, name.isMedia, fetch.written > 0 else { return }
            // It was requested before the change was noticed, and nobody knows of which content it is.
            if asset.hasOtherSegments {
                return folder.removePieces { $0 == name }
            }
            if self.record(fetch, in: folder, of: asset) || self.isFilledByPlayback(rendition, of: asset) {
                self.beginComparison(of: asset)
            }
        }
    }

    /// Records a stored piece. Returns true if its reply gives reason to compare.
    private func record(_ fetch: Fetch, in folder: PieceFolder, of asset: Asset) -> Bool {
        let piece = UncomparedPieces.Piece(folder: folder.id, file: fetch.resource.name.description)
        return library.revisionChecks.record(
            piece, fetch.originTimes, version: fetch.fileVersion, file: fetch.resource.url, tag: fetch.entityTag,
            of: asset)
    }

    /// True if a rendition is complete, and no download compares it at its own end.
    private func isFilledByPlayback(_ rendition: Rendition, of asset: Asset) -> Bool {
        rendition.isComplete && !(library.downloads?.isFetched(asset) ?? false)
    }

    /// Compares what a session has stored, and replaces the old content that it played.
    func sessionEnded(of asset: Asset) async {
        guard !library.playheads.isPlayed(asset.id) else { return }
        if library.revisionChecks.hasUncompared(asset), isComparable(asset) {
            await settle(asset)
        }
        // Downloads replace theirs when they are complete.
        guard let revision = asset.revision, let downloads = library.downloads, !downloads.isKept(asset),
            !downloads.isKept(revision)
        else { return }
        _ = await supersede(asset)
    }

    /// Compares what was stored since the last comparison, before the stored pieces are said to be sound.
    package func checkBeforeVerifying(_ asset: Asset) async {
        let checks = library.revisionChecks
        guard isComparable(asset), asset.hasSeveralPieces else { return }
        let isOfEarlierProcess = !checks.pieces(of: asset).isRestored && !asset.content.isEverythingComplete
        if isOfEarlierProcess || checks.hasUncompared(asset) {
            await settle(asset)
        }
    }

    /// Compares once more at the end of a download: no piece of new content stays among those of the old.
    package func checkAtEnd(of asset: Asset) async { await settle(asset) }

    /// True if `checkAtEnd` sends a request.
    package func isCheckDueAtEnd(of asset: Asset) -> Bool {
        isComparable(asset) && !asset.hasOtherSegments && library.revisionChecks.hasUncompared(asset)
            && asset.hasSeveralPieces
    }

    /// Compares what was stored since the last comparison. Returns once nothing of new content is left among the old.
    package func settle(_ asset: Asset) async {
        if asset.hasOtherSegments {
            return await discardNew(of: asset)
        }
        await compare(asset, within: waitingLimit)
        library.revisionChecks.settleHint(of: asset)
    }

    private func beginComparison(of asset: Asset) {
        Task { @LoopActor in await settle(asset) }
    }

    private func isComparable(_ asset: Asset) -> Bool {
        // One that is not registered is a preview.
        asset.library != nil && !asset.isRecorded && !asset.isRecording && !asset.isImported && !asset.isLive
            && !asset.isPreview && !library.isOffline
    }

    private func isCheckDue(of asset: Asset, isStart: Bool = false) -> Bool {
        asset.library != nil && library.revisionChecks.isDue(asset, isStart: isStart, at: library.now())
            && !library.isOffline && !asset.hasOtherSegments && !library.client.isPresumedAbsent(asset.origin)
    }

    // MARK: Looking

    /// Compares stored pieces with the origin's, once for all callers, and discards new ones if the content has changed.
    /// - Returns: false if the origin did not show whether its content is the same.
    @discardableResult private func compare(
        _ asset: Asset, isThorough: Bool = false, within limit: Duration
    ) async -> Bool {
        let checks = library.revisionChecks
        let isKnown = await checks.running.run(ObjectIdentifier(asset)) {
            asset.load()
            defer { checks.recordCheck(of: asset, at: library.now()) }
            guard isComparable(asset) else { return true }
            return await probe(asset, isThorough: isThorough, within: limit)
        }
        // Not a part of the comparison: a player that waits for that is answered at once.
        if asset.hasOtherSegments {
            await discardNew(of: asset)
        }
        return isKnown
    }

    /// Compares pieces of each rendition with the origin's. False if the origin did not show whether its content is the same.
    private func probe(_ asset: Asset, isThorough: Bool, within limit: Duration) async -> Bool {
        let checks = library.revisionChecks
        if !checks.pieces(of: asset).isRestored {
            await restorePieces(of: asset)
        }
        var samples: [RevisionSample] = []
        for rendition in asset.renditions where hasSamples(rendition) {
            samples += await chosenSamples(of: rendition, in: asset, isThorough: isThorough)
        }
        guard !samples.isEmpty else {
            checks.forgetPieces(of: asset)
            return true
        }
        let nextNumber = checks.pieces(of: asset).nextNumber
        let looks = await takeLooks(at: samples, of: asset, within: limit)
        guard !asset.isRemoved else { return false }
        let isCostly = zip(samples, looks).contains { $0.size > RevisionLook.count && $1.head?.status == 200 }
        checks.recordCost(of: asset, isHigh: isCostly)
        if looks.contains(where: { $0.result == .other }) {
            library.playlists.reportOtherSegments(of: asset)
            return true
        }

        let unknown = Set(zip(samples, looks).filter { $0.1.result == .unknown }.map(\.0.folder.id))
        let same = Set(samples.map(\.folder.id)).subtracting(unknown)
        var folders: Set<String> = []
        for (sample, look) in zip(samples, looks) where look.result == .same {
            // The next comparison chooses the first sample of a folder. An answer that nothing has changed may lack the tag.
            guard folders.insert(sample.folder.id).inserted, let head = look.head, head.status != 304 else { continue }
            checks.record(head.strongTag, of: sample.piece, of: asset)
        }
        let texts = looks.compactMap(\.head).compactMap { $0[.date] }
        let dates = texts.compactMap { HTTPDate($0) }
        if !same.isEmpty {
            checks.recordSame(asset, in: same, before: nextNumber, at: dates.min())
        }
        if unknown.isEmpty {
            asset.hasOtherSegments = false
        }
        return unknown.isEmpty
    }

    private func hasSamples(_ asset: Asset) -> Bool { asset.renditions.contains { hasSamples($0) } }

    /// True if a segment of a rendition is stored that its playlist still lists, so that it can be compared.
    private func hasSamples(_ rendition: Rendition) -> Bool {
        guard rendition.hasEnded, !rendition.name.isIFramesOnly else { return false }
        return rendition.folder.sizes.keys.contains { file in
            guard let name = PieceName(file), name.isSegment else { return false }
            return RevisionSample(name, of: rendition) != nil
        }
    }

    /// The stored pieces of a rendition that are compared, chosen on a worker if there are many.
    private func chosenSamples(
        of rendition: Rendition, in asset: Asset, isThorough: Bool
    ) async -> [RevisionSample] {
        let stored = StoredSegments(
            folder: rendition.folder.id, sizes: rendition.folder.sizes,
            uncompared: library.revisionChecks.pieces(of: asset))
        let size = stored.sizes.count * PureWork.small / Self.fewSegments
        let chosen = await PureWork.shared.run(size: size, for: rendition) { stored.samples(isThorough: isThorough) }
        guard let chosen else { return [] }
        return chosen.compactMap { RevisionSample($0, of: rendition) }
    }

    /// Among so many segments the samples are chosen on the loop.
    private static let fewSegments = 1000

    private func takeLooks(
        at samples: [RevisionSample], of asset: Asset, within limit: Duration
    ) async -> [RevisionLook] {
        var looks: [RevisionLook] = []
        while looks.count < samples.count {
            let batch = samples.dropFirst(looks.count).prefix(Self.width)
            let tasks = batch.map { sample in
                let tag = library.revisionChecks.pieces(of: asset).tag(of: sample.piece)
                return Task { @LoopActor in
                    await RevisionLook.take(at: sample, of: asset, by: library.client, within: limit, tag: tag)
                }
            }
            for task in tasks {
                looks.append(await task.value)
            }
        }
        return looks
    }

    /// Requests at once.
    private static let width = 8

    // MARK: Discarding

    /// Deletes the pieces that were stored since the content changed: those among the uncompared that are the same as the
    /// origin's now. Each is compared, because the copies of an origin need not change at once.
    private func discardNew(of asset: Asset) async {
        let checks = library.revisionChecks
        guard checks.hasUncompared(asset) else { return }
        await checks.searches.run(ObjectIdentifier(asset)) {
            let uncompared = checks.pieces(of: asset)
            let samples = uncompared.pieces.compactMap { piece -> RevisionSample? in
                guard let rendition = asset.rendition(piece.folder), let name = PieceName(piece.file) else {
                    return nil
                }
                return RevisionSample(name, of: rendition)
            }
            let looks = await takeLooks(at: samples, of: asset, within: waitingLimit)
            guard !asset.isRemoved else { return }
            var new = Set(checks.pieces(of: asset).pieces).subtracting(uncompared.pieces)
            for (sample, look) in zip(samples, looks) {
                switch look.result {
                case .other: break
                case .same: new.insert(sample.piece)
                // The times on the disk are no proof of the order, as in a copied store: only what is the same is new.
                case .unknown:
                    if !uncompared.isRestored(sample.piece) {
                        new.insert(sample.piece)
                    }
                }
            }
            discard(new, of: asset)
            checks.forgetPieces(of: asset)
        }
    }

    private func discard(_ pieces: Set<UncomparedPieces.Piece>, of asset: Asset) {
        for rendition in asset.renditions where pieces.contains(where: { $0.folder == rendition.folder.id }) {
            rendition.folder.removePieces {
                pieces.contains(UncomparedPieces.Piece(folder: rendition.folder.id, file: $0.description))
            }
        }
        if !pieces.isEmpty {
            library.rectify(asset)
        }
    }

    /// Takes the last pieces of the process before this one as not compared: it may have ended between a change and its notice.
    /// A complete rendition was compared at its end, unless its download was not at its end.
    private func restorePieces(of asset: Asset) async {
        let isFetched = library.downloads?.isFetched(asset) ?? false
        var stored: [(folder: String, files: [(name: String, time: Double)])] = []
        // An entry may have 10,000 renditions, and each has a folder that is opened.
        var slice = LoopSlice()
        for rendition in asset.renditions {
            await slice.giveWay()
            guard rendition.folder.bytes > 0, isFetched || !rendition.isComplete else { continue }
            let files = await rendition.folder.lastStored(within: Self.unnoticed)
            stored.append((rendition.folder.id, files))
        }
        let known = library.revisionChecks.pieces(of: asset)
        let size = stored.map(\.files.count).reduce(0, +) * PureWork.small / Self.fewSegments
        let earlier = await PureWork.shared.run(size: size, for: asset) { [stored] in
            known.lastOnes(of: stored, within: Self.unnoticed)
        }
        if let earlier {
            library.revisionChecks.restore(earlier, of: asset)
        }
    }
}

extension Fetch {
    /// The facts about the file of which the resource is a range; nil if it is no range.
    fileprivate var fileVersion: UncomparedPieces.FileVersion? {
        guard resource.range != nil else { return nil }
        return UncomparedPieces.FileVersion(tag: entityTag, length: fileLength)
    }
}

extension Asset {
    /// True if more than one piece of media is stored, so that they may be of two contents.
    fileprivate var hasSeveralPieces: Bool {
        var count = 0
        for rendition in renditions {
            count += rendition.folder.sizes.count
            if count > 1 {
                return true
            }
        }
        return false
    }
}
