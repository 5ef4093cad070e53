import Assets
package import Downloads
package import EventLoop
import HLS
import Orders
import SafeText
package import WeirAPI

extension API.Download {
    /// Converts the state of a download alone. Needs its playlists only if the download is complete.
    @LoopActor package init(stateOf download: Download) {
        self.init(id: download.asset.id, asset: download.asset.name)
        state = download.actualState(isComplete: download.isComplete)
        need = download.need(in: state)
        error = download.failure.map { Failure(code: APIError.Code($0.code), message: $0.message) }
    }

    /// Converts a download. Cheap enough for a few calls per second.
    @LoopActor package init(_ download: Download) {
        let asset = download.asset
        let progress = download.progress
        self.init(stateOf: download)

        title = asset.title
        priority = download.task.priority
        note = download.task.note
        shortfall = download.shortfall
        otherContent = download.otherContent
        if !state.isFinal {
            stage = progress.stage
        }

        loaded = progress.loaded.shape
        if progress.isOpen {
            isRecording = true
            expected = []
        } else {
            expected = progress.expected.shape
        }
        fraction = progress.fraction
        parts = Self.parts(of: progress)
        selections = progress.selections.map { Selected($0) }
        summary = download.account.map { Summary($0, of: progress) }

        if progress.duration > 0 {
            duration = API.milliseconds(progress.duration)
        }
        bytes = Int(progress.bytes)
        if !progress.parts.isEmpty, !progress.isOpen {
            totalBytes = progress.estimatedBytes.map { Int($0) }
        }
        let unfinished = Int(download.unfinishedBytes)
        if unfinished > 0 {
            arriving = unfinished
        }

        rate = download.bytesPerSecond.map { Int($0) }
        silence = download.silence.map { Int($0.components.seconds) }
        eta = download.timeLeft(progress).map { Int($0.components.seconds) }

        selection = AssetShapes(asset).tracks(of: download.ids)
        reasons = Self.reasons(of: download).nonEmpty
        if !download.task.rules.isEmpty {
            rules = download.task.rules
        }
    }

    /// The reasons why a download does not go on.
    @LoopActor static func reasons(of download: Download) -> [Reason] {
        switch download.state {
        case .paused:
            guard let words = download.task.pauseReason else { return [] }
            return [Reason(kind: .user, message: words)]
        case .waiting where !download.holds.isEmpty:
            return download.holds
        case .waiting:
            guard let need = download.need(in: .waiting) else { return [] }
            return [Reason(need, download.failure?.message ?? "")]
        case .queued, .running, .failed, .complete, .cancelled: return []
        }
    }

    /// Converts a complete download for a list, without its tracks; `bytes` are those of its asset.
    @LoopActor init(complete download: Download, duration: Double?, bytes: Int) {
        self.init(id: download.asset.id, asset: download.asset.name, title: download.asset.title)
        state = .complete
        priority = download.task.priority
        note = download.task.note
        shortfall = download.shortfall
        otherContent = download.otherContent
        fraction = 1
        self.duration = duration.map(API.milliseconds)
        self.bytes = bytes
        totalBytes = bytes
    }

    static func parts(of progress: DownloadProgress) -> [Part] {
        progress.parts.map { part in
            var shape = Part(id: part.id, kind: part.kind)
            shape.loaded = part.loaded.shape
            shape.expected = part.expected.shape
            shape.bytes = Int(part.bytes)
            if part.isComplete || !part.isSizeInvented {
                shape.totalBytes = Int(part.totalBytes)
            }
            shape.fraction = part.fraction
            shape.weight = part.weight
            shape.isComplete = part.isComplete
            return shape
        }
    }
}

extension API.Download.Selected {
    init(_ selected: DownloadProgress.Selected) {
        self.init(
            renditions: selected.parts.map { .init(id: $0.id, weight: $0.weight, fraction: $0.fraction) },
            range: selected.selection.range, fraction: selected.fraction,
            isComplete: selected.isComplete)
        shortfall = selected.shortfall
    }
}

extension API.Download.Summary {
    init(_ account: DownloadAccount, of progress: DownloadProgress) {
        self.init(
            began: Int(account.began), ended: Int(account.ended), seconds: account.seconds, bytes: Int(account.bytes),
            requests: account.requests, retries: account.retries, interruptions: account.interruptions)
        origins = account.origins.map { Origin(host: $0.host, requests: $0.requests, bytes: Int($0.bytes)) }
        interstitials = account.interstitials
        interstitialFaults = account.interstitialFaults
        chosen = progress.parts.map(\.id)
        missing = progress.parts.compactMap { part in
            let ranges = part.expected.subtracting(part.loaded).shape
            // A complete one may lack segments of subtitles that the origin does not have.
            guard !part.isComplete || !ranges.isEmpty else { return nil }
            return Missing(id: part.id, ranges: ranges)
        }
    }
}

extension API.Event.Selection {
    @LoopActor init(_ selected: Download.Selected, of asset: Asset) {
        self.init(
            id: asset.id, asset: asset.name, range: selected.range,
            selection: AssetShapes(asset).tracks(of: selected.renditions))
    }
}

extension Download {
    /// The state as the disk shows it: pieces of a complete download may have been lost since, or its volume may be absent.
    ///
    /// - Parameter isComplete: true if everything selected is stored.
    func actualState(isComplete: @autoclosure () -> Bool) -> JobState {
        guard state == .complete, !isComplete() else { return state }
        guard isAway else { return .failed }
        return .waiting
    }

    /// The missing condition, for a state as the API shows it: an absent volume is one, whatever the catalogue says.
    func need(in state: JobState) -> Need? {
        guard state == .waiting else { return nil }
        if let need {
            return need
        }
        return isAway ? .volume : nil
    }
}

extension Downloader {
    /// The download of an asset's new content while that is fetched, and otherwise its own; nil if it has none.
    func latestDownload(of asset: Asset) -> Download? {
        if let revision = asset.revision, let download = download(of: revision) {
            return download
        }
        return download(of: asset)
    }
}

extension Download {
    /// True if the asset's volume is absent.
    fileprivate var isAway: Bool {
        guard let volume = asset.volume else { return false }
        return !volume.isThere
    }
}

extension TimeRanges {
    fileprivate var shape: [API.Download.TimeRange] { ranges.map { .init(start: $0.lowerBound, end: $0.upperBound) } }
}
