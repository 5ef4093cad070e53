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
        stage = state.isFinal ? nil : progress.stage
        loaded = progress.loaded.shape
        isRecording = progress.isOpen ? true : nil
        expected = progress.isOpen ? [] : progress.expected.shape
        fraction = progress.fraction
        parts = Self.parts(of: progress)
        selections = progress.selections.map { Selected($0) }
        summary = download.account.map { Summary($0, of: progress) }
        duration = progress.duration > 0 ? API.milliseconds(progress.duration) : nil
        bytes = Int(progress.bytes)
        if !progress.parts.isEmpty, !progress.isOpen {
            totalBytes = progress.estimatedBytes.map { Int($0) }
        }
        let unfinished = Int(download.unfinishedBytes)
        arriving = unfinished > 0 ? unfinished : nil
        rate = download.bytesPerSecond.map { Int($0) }
        silence = download.silence.map { Int($0.components.seconds) }
        eta = download.timeLeft(progress).map { Int($0.components.seconds) }
        selection = AssetShapes(asset).tracks(of: download.ids)
        let reasons = Self.reasons(of: download)
        self.reasons = reasons.isEmpty ? nil : reasons
        rules = download.task.rules.isEmpty ? nil : download.task.rules
    }

    /// The reasons why a download does not go on.
    @LoopActor static func reasons(of download: Download) -> [Reason] {
        switch download.state {
        case .paused: return download.task.pauseReason.map { [Reason(kind: .user, message: $0)] } ?? []
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
            return part.isComplete && ranges.isEmpty ? nil : Missing(id: part.id, ranges: ranges)
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
        return isAway ? .waiting : .failed
    }

    /// The missing condition, for a state as the API shows it: an absent volume is one, whatever the catalogue says.
    func need(in state: JobState) -> Need? {
        guard state == .waiting else { return nil }
        return need ?? (isAway ? .volume : nil)
    }
}

extension Download {
    /// True if the asset's volume is absent.
    fileprivate var isAway: Bool { asset.volume.map { !$0.isThere } ?? false }
}

extension TimeRanges {
    fileprivate var shape: [API.Download.TimeRange] { ranges.map { .init(start: $0.lowerBound, end: $0.upperBound) } }
}
