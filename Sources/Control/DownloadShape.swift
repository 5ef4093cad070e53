import API
import Downloader
import EventLoop
import Library

extension API.Download {
    /// Converts a download. Cheap enough for a few calls per second.
    @LoopActor init(_ download: Download) {
        let asset = download.asset
        let progress = download.progress
        self.init(id: asset.id, asset: asset.name, title: asset.title)
        state = State(download)
        need = Need(download)
        priority = Priority(rawValue: download.task.priority.rawValue) ?? .default
        note = download.task.note
        otherQuality = download.otherQuality
        stage = state.isFinal ? nil : progress.stage?.rawValue
        loaded = progress.loaded.shape
        isRecording = progress.isOpen ? true : nil
        expected = progress.isOpen ? [] : progress.expected.shape
        fraction = API.rounded(progress.fraction)
        parts = Self.parts(of: progress)
        duration = progress.duration > 0 ? API.milliseconds(progress.duration) : nil
        bytes = Int(progress.bytes)
        totalBytes = progress.parts.isEmpty || progress.isOpen ? nil : Int(progress.totalBytes)
        if let rate = download.bytesPerSecond {
            self.rate = Int(rate)
            eta =
                rate > 0 && !progress.isOpen ? Int(min(Double(progress.totalBytes - progress.bytes) / rate, 1e9)) : nil
        }
        selection = AssetShapes(asset).tracks(of: download.ids)
        error = download.failure.map { Failure(code: APIError.Code(stored: $0.code), message: $0.message) }
    }

    /// Converts a complete download for a list, without its tracks; `bytes` are those of its asset.
    @LoopActor init(complete download: Download, duration: Double?, bytes: Int) {
        self.init(id: download.asset.id, asset: download.asset.name, title: download.asset.title)
        state = .complete
        priority = Priority(rawValue: download.task.priority.rawValue) ?? .default
        note = download.task.note
        otherQuality = download.otherQuality
        fraction = 1
        self.duration = duration.map(API.milliseconds)
        (self.bytes, totalBytes) = (bytes, bytes)
    }

    static func parts(of progress: DownloadProgress) -> [Part] {
        let weights = weights(of: progress.parts.map(\.kind.rawValue))
        return zip(progress.parts, weights).map { part, weight in
            var shape = Part(id: part.id, kind: part.kind.rawValue)
            shape.loaded = part.loaded.shape
            shape.expected = part.expected.shape
            shape.bytes = Int(part.bytes)
            shape.totalBytes = Int(part.totalBytes)
            shape.fraction = API.rounded(part.fraction)
            shape.weight = weight
            shape.isComplete = part.isComplete
            return shape
        }
    }

    /// The weights of renditions by their kinds. Their sum is 1.
    static func weights(of kinds: [String]) -> [Double] {
        let counts = Dictionary(kinds.map { ($0, 1) }, uniquingKeysWith: +)
        let sum = counts.keys.reduce(0) { $0 + share(of: $1) }
        return kinds.map { kind in API.rounded(share(of: kind) / sum / Double(counts[kind] ?? 1)) }
    }

    private static func share(of kind: String) -> Double {
        switch kind {
        case "video": 70
        case "audio": 20
        default: 10
        }
    }
}

extension API.Download.State {
    @LoopActor init(_ download: Download) { self.init(download, isComplete: download.isComplete) }

    /// - Parameter isComplete: true if everything selected is stored.
    @LoopActor init(_ download: Download, isComplete: @autoclosure () -> Bool) {
        switch download.state {
        case .queued: self = .queued
        case .running: self = .running
        case .paused: self = .paused
        case .waiting: self = .waiting
        case .failed: self = .failed
        case .cancelled: self = .cancelled
        // The disk decides: pieces may have been lost since, or the volume may be absent.
        case .complete: self = isComplete() ? .complete : download.isAway ? .waiting : .failed
        }
    }
}

extension API.Download.Need {
    @LoopActor init?(_ download: Download) {
        guard API.Download.State(download) == .waiting else { return nil }
        switch download.need {
        case .network: self = .network
        case .space: self = .space
        case .key: self = .key
        case .disk: self = .volume
        case nil:
            guard download.isAway else { return nil }
            self = .volume
        }
    }
}

extension Download {
    /// True if the asset's volume is absent.
    fileprivate var isAway: Bool { asset.volume.map { !$0.isThere } ?? false }
}

extension TimeRanges {
    fileprivate var shape: [API.Download.TimeRange] { ranges.map { .init(start: $0.lowerBound, end: $0.upperBound) } }
}
