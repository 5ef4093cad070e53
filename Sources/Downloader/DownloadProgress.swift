public import EventLoop
import Fetching
public import Library
import Playlist
import Retention

/// How far a download is, worked out from what is on disk.
public struct DownloadProgress: Sendable {
    /// How far one rendition is.
    public struct Part: Sendable {
        /// The rendition's id.
        public let id: String
        /// What it is.
        public let kind: Kind
        /// The media time that is wanted of it.
        public var expected = TimeRanges()
        /// The part of that which is there. What the origin marks as a gap (EXT-X-GAP) counts as there: nothing is to
        /// come.
        public var loaded = TimeRanges()
        /// The bytes that are there.
        public var bytes: Int64 = 0
        /// The bytes that it will have: an estimate, until everything is there.
        public var totalBytes: Int64 = 0
        /// Whether everything that is wanted of it is there.
        public var isComplete = false
        /// What is wanted and what of it is there, in bytes as the playlists announce them: both depend on the
        /// playlists and on which pieces are there, and on nothing else, so that their ratio never falls while pieces
        /// come.
        var (announced, reached) = (0.0, 0.0)

        /// How far it is, from 0 to 1; 1 if and only if everything is there.
        public var fraction: Double {
            isComplete ? 1 : announced > 0 ? min(reached / announced, DownloadProgress.almost) : 0
        }

        init(id: String, kind: Kind) {
            self.id = id
            self.kind = kind
        }
    }

    /// What a rendition is.
    public enum Kind: String, Sendable {
        /// A variant's own: a picture, with or without sound in it, or sound alone.
        case video
        /// EXT-X-MEDIA with TYPE=AUDIO.
        case audio
        /// EXT-X-MEDIA with TYPE=SUBTITLES.
        case subtitles
    }

    /// The renditions, the variant's own first.
    public private(set) var parts: [Part] = []
    /// The media time for which everything that is wanted at that instant is there.
    public private(set) var loaded = TimeRanges()
    /// The media time that is wanted.
    public private(set) var expected = TimeRanges()
    /// The media's length in seconds; 0 while nobody knows it.
    public private(set) var duration = 0.0
    /// Whether more is to come than anybody knows of: it is being recorded.
    public private(set) var isOpen = false

    /// The bytes that are there.
    public var bytes: Int64 { parts.reduce(0) { $0 + $1.bytes } }
    /// The bytes that all will have: an estimate, until everything is there.
    public var totalBytes: Int64 { parts.reduce(0) { $0 + $1.totalBytes } }
    /// What comes next; nil when nothing does.
    public var stage: Kind? { parts.first { !$0.isComplete }?.kind }

    /// How far all of it is, from 0 to 1, by announced bytes; 1 if and only if everything is there. 0 while it is
    /// recorded.
    public var fraction: Double {
        guard !isOpen else { return 0 }
        guard parts.contains(where: { !$0.isComplete }) else { return parts.isEmpty ? 0 : 1 }
        let (announced, reached) = parts.reduce((0, 0)) { ($0.0 + $1.announced, $0.1 + $1.reached) }
        return announced > 0 ? min(reached / announced, Self.almost) : 0
    }

    /// How far at most something is that lacks anything at all.
    fileprivate static let almost = 0.999

    @LoopActor init(of download: Download) {
        let (task, rates) = (download.task, AnnouncedRates(download.asset))
        var ready: TimeRanges?
        for rendition in download.renditions {
            if let recording = rendition.recording {
                ready = note(recording, of: rendition, ready)
                continue
            }
            let wanted = task.span(of: rendition.name.id) ?? .whole
            let measure = Measure(of: rendition, wanted, bitRate: rates.bitRate(of: rendition))
            var part = measure.part
            part.isComplete = download.isWhole(rendition)
            if part.isComplete { part.totalBytes = part.bytes }
            ready = ready?.intersection(measure.ready) ?? measure.ready
            expected = expected.union(part.expected)
            duration = max(duration, rendition.source?.playlist.duration ?? 0)
            parts.append(part)
        }
        loaded = (ready ?? TimeRanges()).intersection(expected)
    }

    /// What is stored of the renditions of an asset of which anything is, held against all of their media.
    @LoopActor public init(storedOf asset: Asset) {
        let rates = AnnouncedRates(asset)
        for rendition in asset.renditions where rendition.folder.bytes > 0 && rendition.recording == nil {
            let measure = Measure(of: rendition, .whole, bitRate: rates.bitRate(of: rendition))
            var part = measure.part
            part.isComplete = rendition.isWhole
            if part.isComplete { part.totalBytes = part.bytes }
            duration = max(duration, rendition.source?.playlist.duration ?? 0)
            parts.append(part)
        }
    }

    /// Of what is being recorded, no more is expected than what is there: nobody knows when it ends.
    @LoopActor private mutating func note(
        _ recording: Recording, of rendition: Rendition, _ ready: TimeRanges?
    ) -> TimeRanges {
        var part = Part(id: rendition.name.id, kind: rendition.kind)
        if recording.duration > 0 { part.loaded.append(0..<recording.duration) }
        (part.expected, part.bytes) = (part.loaded, rendition.folder.bytes)
        part.totalBytes = part.bytes
        expected = expected.union(part.expected)
        isOpen = true
        parts.append(part)
        return ready?.intersection(part.loaded) ?? part.loaded
    }
}

/// One rendition, measured segment by segment.
private struct Measure {
    var part: DownloadProgress.Part
    /// When nothing that is wanted of it is missing.
    var ready = TimeRanges()
    /// The time that was announced by neither a size nor a bit rate, and of which nothing is there.
    private var (missing, known): (seconds: Double, bytes: Int64) = (0, 0)

    /// - Parameter bitRate: what the multivariant playlist tells of it, in bits a second.
    @LoopActor init(of rendition: Rendition, _ wanted: WantedTime, bitRate: Double) {
        part = DownloadProgress.Part(id: rendition.name.id, kind: rendition.kind)
        let sizes = rendition.folder.sizes
        rendition.forEachSegment { segment, start, end in
            guard wanted.touches(start, end) else {
                if end > start { ready.append(start..<end) }
                return
            }
            if end > start { part.expected.append(start..<end) }
            let announced = segment.announcedBytes(bitRate: bitRate)
            let size = sizes[rendition.file(of: segment)]
            part.announced += segment.isGap ? 0 : announced
            if segment.isGap || size != nil {
                if end > start {
                    ready.append(start..<end)
                    part.loaded.append(start..<end)
                }
                part.bytes += size ?? 0
                part.reached += segment.isGap ? 0 : announced
            } else if let exact = segment.byteRange?.length {
                known += Int64(exact)
            } else if segment.bitRate != nil {
                known += Int64(announced)
            } else {
                missing += end - start
            }
        }
        // Keys are of no account; initialization sections are.
        part.bytes += sizes.reduce(0) { $0 + ($1.key.hasPrefix("init-") ? $1.value : 0) }
        part.totalBytes = part.bytes + known + Int64(min(missing * Self.rate(part, bitRate), 1e15))
    }

    /// Bytes a second: by what is there once that says enough; as announced before.
    private static func rate(_ part: DownloadProgress.Part, _ bitRate: Double) -> Double {
        let seconds = part.loaded.duration
        return seconds > 0 && seconds >= 0.05 * part.expected.duration ? Double(part.bytes) / seconds : bitRate / 8
    }
}

/// What the multivariant playlist tells of its renditions' bit rates.
private struct AnnouncedRates {
    private var variants: [String: (own: Double, sound: Double)] = [:]

    /// A variant's bit rate is that of the variant together with one rendition of each of its groups (RFC 8216
    /// §4.3.4.2). What of it is sound no playlist tells.
    @LoopActor init(_ asset: Asset) {
        for variant in asset.multivariant?.variants ?? [] {
            let id = asset.renditions[variant.renditionIndex].name.id
            guard variants[id] == nil else { continue }
            let all = Double(variant.averageBandwidth ?? variant.bandwidth)
            let sound = variant.audio == nil ? 0 : Swift.min(Self.sound, all / 4)
            variants[id] = (all - sound, sound)
        }
    }

    @LoopActor func bitRate(of rendition: Rendition) -> Double {
        if let known = variants[rendition.name.id]?.own { return known }
        switch rendition.kind {
        case .video: return Self.lone
        case .audio: return variants.values.map(\.sound).filter { $0 > 0 }.max() ?? Self.sound
        case .subtitles: return Self.subtitles
        }
    }

    /// Where nothing is announced, in bits a second.
    private static let (lone, sound, subtitles) = (1_000_000.0, 128_000.0, 1_000.0)
}

extension Segment {
    /// Its size as far as the playlists tell.
    fileprivate func announcedBytes(bitRate: Double) -> Double {
        if let length = byteRange?.length { return Double(length) }
        return duration * (self.bitRate.map(Double.init) ?? bitRate) / 8
    }
}

extension Rendition {
    /// What it is, as its name tells.
    var kind: DownloadProgress.Kind {
        DownloadProgress.Kind(rawValue: String(name.id.prefix { $0 != "-" })) ?? .video
    }
}
