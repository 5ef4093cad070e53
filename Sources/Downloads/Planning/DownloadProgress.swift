package import Assets
package import EventLoop
import Fetching
package import HLS
package import Orders
import Retention
import Store

/// Progress of a download, computed from the stored pieces.
package struct DownloadProgress: Sendable {
    /// Progress of one rendition.
    package struct Part: Sendable {
        package let id: String
        package let kind: TrackKind
        /// The requested media time.
        package var expected = TimeRanges()
        /// The stored part of `expected`. EXT-X-GAP counts as stored, because nothing will arrive for it.
        package var loaded = TimeRanges()
        package var bytes = ByteCount.zero
        /// Total bytes; an estimate until everything is stored.
        package var totalBytes = ByteCount.zero
        /// True if everything requested is stored.
        package var isComplete = false
        /// True if `totalBytes` is exact, or follows from what is stored and not from announced bit rates.
        var isSizeKnown = false
        /// True if nothing but an assumed bit rate gives `totalBytes`.
        package var isSizeInvented = false
        /// Requested and stored bytes as the playlists announce them: their ratio never falls while pieces arrive.
        var announced = 0.0
        var reached = 0.0
        /// Share of the whole, with four decimal digits; the sum over all parts is 1.
        package var weight = 0.0

        /// Progress from 0 to 1, rounded down to four digits; 1 if and only if everything is stored.
        package var fraction: Double {
            guard !isComplete else { return 1 }
            let exact = announced > 0 ? min(reached / announced, DownloadProgress.almost) : 0
            return (exact * 10_000 + 1e-9).rounded(.down) / 10_000
        }

        init(id: String, kind: TrackKind) {
            self.id = id
            self.kind = kind
        }
    }

    /// Progress of one selection.
    package struct Selected: Sendable {
        package let selection: Download.Selected
        /// A sentence about the selected variant, if another one is downloaded; else nil.
        package let shortfall: Shortfall?
        /// Its renditions, with their weights within the selection.
        package let parts: [Part]

        package var fraction: Double { DownloadProgress.sum(parts) }
        package var isComplete: Bool { !parts.isEmpty && parts.allSatisfy(\.isComplete) }
    }

    /// The renditions, the variant's own first.
    package private(set) var parts: [Part] = []
    /// The selections, in the order in which they are fetched.
    package private(set) var selections: [Selected] = []
    /// The media time for which all requested renditions are stored.
    package private(set) var loaded = TimeRanges()
    /// The requested media time.
    package private(set) var expected = TimeRanges()
    /// Length of the media in seconds; 0 while it is unknown.
    package private(set) var duration = 0.0
    /// True for a recording, whose final length is unknown.
    package private(set) var isOpen = false

    package var bytes: ByteCount { parts.reduce(.zero) { $0 + $1.bytes } }
    package var totalBytes: ByteCount { parts.reduce(.zero) { $0 + $1.totalBytes } }
    /// `totalBytes`, if they follow from anything that is announced or stored.
    package var estimatedBytes: ByteCount? {
        let isInvented = parts.contains { $0.isSizeInvented && !$0.isComplete }
        return isInvented ? nil : totalBytes
    }
    /// True if the size is known to a factor of two: most of it does not follow from announced bit rates alone.
    package var isSizeKnown: Bool {
        let unknown = parts.filter { !$0.isSizeKnown && !$0.isComplete }.reduce(ByteCount.zero) { $0 + $1.totalBytes }
        return !parts.isEmpty && Double(unknown) <= Double(totalBytes) / 4
    }
    /// Kind of the next incomplete rendition; nil if all are complete.
    package var stage: TrackKind? { parts.first { !$0.isComplete }?.kind }

    /// Progress from 0 to 1: the weighted sum of the parts'; 1 if and only if everything is stored. 0 for a recording.
    package var fraction: Double { isOpen ? 0 : Self.sum(parts) }

    /// The sum of weighted fractions. Both have four decimal digits, so that the sum is exact.
    private static func sum(_ parts: [Part]) -> Double {
        let units = { (value: Double) in Int((value * 10_000).rounded()) }
        return Double(parts.reduce(0) { $0 + units($1.weight) * units($1.fraction) }) / 1e8
    }

    fileprivate static let almost = 0.999

    @LoopActor init(of download: Download) {
        let task = download.task
        let rates = AnnouncedRates(download.asset)
        let spans = task.spans
        var ready: TimeRanges?
        for rendition in download.renditions {
            if let recording = rendition.recording as? Recording {
                ready = insert(recording, of: rendition, ready)
                continue
            }
            let wanted = spans[rendition.name.id] ?? .all
            let measure = download.measure(of: rendition, wanted, rates)
            let part = measure.part
            ready = ready?.intersection(measure.ready) ?? measure.ready
            expected = expected.union(part.expected)
            duration = max(duration, rendition.source?.playlist.duration.seconds ?? 0)
            parts.append(part)
        }
        loaded = (ready ?? TimeRanges()).intersection(expected)
        parts = ProgressWeights.applied(to: parts)
        let partsByID = Dictionary(parts.map { ($0.id, $0) }) { first, _ in first }
        selections = task.items.map { item in
            let members = item.renditions.compactMap { id -> Part? in
                guard let rendition = download.asset.rendition(id) else { return nil }
                if rendition.recording != nil || spans[rendition.name.id] == item.wanted {
                    return partsByID[rendition.name.id]
                }
                return download.measure(of: rendition, item.wanted, rates).part
            }
            return Selected(
                selection: Download.Selected(item), shortfall: task.shortfall(of: item),
                parts: ProgressWeights.applied(to: members))
        }
    }

    /// Computes the progress of an asset's partly or completely stored renditions, relative to their full length, in slices.
    @LoopActor package init(storedOf asset: Asset) async {
        let rates = AnnouncedRates(asset)
        var slice = LoopSlice()
        for rendition in asset.renditions where rendition.folder.bytes > 0 && rendition.recording == nil {
            await slice.giveWay()
            let input = Measure.Input(rendition, .all, bitRate: rates.bitRate(of: rendition))
            var measure = Measure(unknown: rendition.name.id, kind: rendition.kind)
            if let input {
                let size = 64 * input.files.count
                measure = await PureWork.shared.run(size: size, for: rendition) { Measure(input) } ?? measure
            }
            await rendition.readCompleteness()
            var part = measure.part
            part.isComplete = rendition.isComplete
            if part.isComplete {
                part.totalBytes = part.bytes
            }
            duration = max(duration, rendition.source?.playlist.duration.seconds ?? 0)
            parts.append(part)
        }
        parts = ProgressWeights.applied(to: parts)
    }

    /// Adds a recording. Its expected time is its stored time, because its end is unknown.
    @LoopActor private mutating func insert(
        _ recording: Recording, of rendition: Rendition, _ ready: TimeRanges?
    ) -> TimeRanges {
        var part = Part(id: rendition.name.id, kind: rendition.kind)
        if recording.duration > 0 {
            part.loaded.append(0..<recording.duration)
        }
        part.expected = part.loaded
        part.bytes = ByteCount(rendition.folder.bytes)
        part.totalBytes = part.bytes
        expected = expected.union(part.expected)
        isOpen = true
        parts.append(part)
        return ready?.intersection(part.loaded) ?? part.loaded
    }
}

/// The shares of renditions in a whole: 70 for video, 20 for audio and 10 for subtitles, spread over the renditions of a kind
/// and scaled to a sum of 1. Pure.
package enum ProgressWeights {
    /// The weights with four decimal digits. Their sum is 1.
    package static func of(_ kinds: [TrackKind]) -> [Double] {
        let counts = Dictionary(kinds.map { ($0, 1) }, uniquingKeysWith: +)
        let sum = counts.keys.reduce(0) { $0 + share(of: $1) }
        var units = kinds.map { kind in
            let parts = sum * (counts[kind] ?? 1)
            return share(of: kind) * 10_000 / parts
        }
        // Integer division loses units; the first parts get them, so that the sum is exact.
        let given = units.reduce(0, +)
        for index in 0..<(10_000 - given) where !units.isEmpty {
            units[index % units.count] += 1
        }
        return units.map { Double($0) / 10_000 }
    }

    static func applied(to parts: [DownloadProgress.Part]) -> [DownloadProgress.Part] {
        zip(parts, of(parts.map(\.kind))).map { part, weight in
            var part = part
            part.weight = weight
            return part
        }
    }

    private static func share(of kind: TrackKind) -> Int {
        switch kind {
        case .video: 70
        case .audio: 20
        case .subtitles: 10
        }
    }
}

extension Download {
    /// The measure of a rendition's wanted time.
    fileprivate func measure(of rendition: Rendition, _ wanted: WantedTime, _ rates: AnnouncedRates) -> Measure {
        var measure = meter.measure(of: rendition, wanted, bitRate: rates.bitRate(of: rendition))
        measure.part.isComplete = isComplete(rendition, wanted)
        if measure.part.isComplete {
            measure.part.totalBytes = measure.part.bytes
        }
        return measure
    }
}

/// The progress of one rendition. Pure: it grows with the number of segments.
struct Measure: Sendable {
    /// All that it is computed from.
    struct Input: Sendable {
        let id: String
        let kind: TrackKind
        let playlist: MediaPlaylist
        /// The segments' files, by index.
        let files: [String]
        let sizes: PieceTable<Int64>
        let wanted: WantedTime
        /// From the multivariant playlist, or assumed.
        let bitRate: AnnouncedRate
        /// The indices of segments of subtitles that the origin does not have: nothing is missing there, and nothing loaded.
        let givenUp: Set<Int>
        /// See `Rendition.locations`.
        let locations: SegmentLocations?

        /// The segments with their files; none unless the playlist has ended.
        var segments: some Sequence<(Segment, String)> { zip(playlist.segments, files) }

        /// Nil before the playlist is known.
        @LoopActor init?(_ rendition: Rendition, _ wanted: WantedTime, bitRate: AnnouncedRate) {
            guard let playlist = rendition.source?.playlist else { return nil }
            self.playlist = playlist
            id = rendition.name.id
            kind = rendition.kind
            self.wanted = wanted
            self.bitRate = bitRate
            files = rendition.segmentFiles
            sizes = rendition.folder.sizes
            givenUp = rendition.givenUpIndices
            locations = rendition.locations
        }
    }

    var part: DownloadProgress.Part
    /// Media time at which nothing requested is missing.
    var ready = TimeRanges()
    /// Missing segments: seconds of those without an announced size or bit rate, and bytes of the others.
    private var missing: Double = 0
    private var known: ByteCount = .zero

    /// Nothing is known yet.
    init(unknown rendition: String, kind: TrackKind) {
        part = DownloadProgress.Part(id: rendition, kind: kind)
    }

    init(_ input: Input) {
        self.init(unknown: input.id, kind: input.kind)
        let sizes = input.sizes
        let bitRate = input.bitRate.bits
        var repeats = RepeatedSegments(input.locations) { sizes[input.files[$0]] != nil }
        var sizedCount = 0
        var countedSeconds = 0.0
        var time = 0.0
        for (segment, file) in input.segments {
            let start = time
            let end = start + segment.duration.seconds
            time = end
            guard input.wanted.touches(start, end) else {
                if end > start {
                    ready.append(start..<end)
                }
                continue
            }
            if end > start {
                part.expected.append(start..<end)
            }
            guard !input.givenUp.contains(segment.index) else {
                if end > start {
                    ready.append(start..<end)
                }
                continue
            }
            let announced = segment.announcedBytes(bitRate: bitRate)
            let size = sizes[file]
            let isCounted = repeats.pickCounted(segment.index, isStored: size != nil)
            part.announced += segment.isGap ? 0 : Double(announced)
            if size != nil || segment.byteRange != nil || segment.bitRate != nil {
                sizedCount += 1
            }
            if segment.isGap || size != nil {
                if end > start {
                    ready.append(start..<end)
                    part.loaded.append(start..<end)
                }
                if !segment.isGap {
                    part.reached += Double(announced)
                }
                if isCounted {
                    part.bytes += ByteCount(size ?? 0)
                    countedSeconds += end - start
                }
            } else if !isCounted {
                // The bytes are those of another segment.
                continue
            } else if segment.byteRange != nil || segment.bitRate != nil {
                known += announced
            } else {
                missing += end - start
            }
        }
        // Renditions differ a little in length: behind its end, nothing of this one is missing.
        ready.append(time..<max(time, Self.end))
        // Initialization sections count; keys do not.
        for (file, size) in sizes where file.hasPrefix("init-") {
            part.bytes += ByteCount(size)
        }
        // A single segment may be the head of the film, which has little in it.
        let isAssumed = input.bitRate.isAssumed
        part.isSizeInvented = missing > 0 && isAssumed && sizedCount < 2
        let isMeasured = Self.isMeasured(part) || isAssumed && sizedCount > 1 && part.loaded.duration > 0
        part.isSizeKnown = missing == 0 || Self.isMeasured(part)
        var rate = Double(bitRate) / 8
        if isMeasured, countedSeconds > 0 {
            rate = Double(part.bytes) / countedSeconds
        }
        let estimated = ByteCount(estimate: missing * rate)
        part.totalBytes = part.bytes + known + estimated
    }

    /// Later than the end of any media, in seconds.
    private static let end = 1e12

    /// True if enough is stored for the size of the rest to follow from it: a twentieth, or a minute.
    private static func isMeasured(_ part: DownloadProgress.Part) -> Bool {
        let seconds = part.loaded.duration
        return seconds > 0 && seconds >= min(0.05 * part.expected.duration, 60)
    }
}

/// The bit rate of a rendition before enough of it is stored.
struct AnnouncedRate {
    let bits: BitRate
    /// True for a picture whose playlist announces none: the real rate may be a tenth of it, or twenty times as much.
    var isAssumed = false
}

struct AnnouncedRates {
    /// The rates of the variants' own renditions. By identity: an entry may list 10,000, whose ids take longer to compare.
    private var own: [ObjectIdentifier: BitRate] = [:]
    /// The highest share of sound; nil if no variant has sound of its own.
    private var mostSound: BitRate?

    /// A variant's bit rate includes one rendition of each of its groups (RFC 8216 §4.3.4.2); the share of audio is
    /// assumed.
    @LoopActor init(_ asset: Asset) {
        let variants = asset.multivariant?.variants ?? []
        let renditions = asset.renditions
        own.reserveCapacity(variants.count)
        for variant in variants {
            let id = ObjectIdentifier(renditions[variant.renditionIndex])
            guard own[id] == nil else { continue }
            let all = variant.averageBandwidth ?? variant.bandwidth
            guard all > .zero else { continue }
            let sound: BitRate = variant.audio == nil ? .zero : min(Self.sound, all / 4)
            own[id] = all - sound
            if sound > .zero {
                mostSound = max(mostSound ?? .zero, sound)
            }
        }
    }

    @LoopActor func bitRate(of rendition: Rendition) -> AnnouncedRate {
        if let known = own[ObjectIdentifier(rendition)] {
            return AnnouncedRate(bits: known)
        }
        switch rendition.kind {
        case .video: return AnnouncedRate(bits: Self.lone, isAssumed: true)
        case .audio: return AnnouncedRate(bits: mostSound ?? Self.sound)
        case .subtitles: return AnnouncedRate(bits: Self.subtitles)
        }
    }

    /// Assumed bit rates if none is announced.
    private static let lone: BitRate = 1_000_000
    private static let sound: BitRate = 128_000
    private static let subtitles: BitRate = 1_000
}

extension Segment {
    /// One segment counts as a terabyte at most.
    fileprivate func announcedBytes(bitRate: BitRate) -> ByteCount {
        if let size = byteRange?.size {
            return size
        }
        let rate = self.bitRate ?? bitRate
        return min(rate.bytes(in: duration), 1_000_000_000_000)
    }
}

extension Rendition {
    var kind: TrackKind { TrackKind(rawValue: String(name.id.prefix { $0 != "-" })) ?? .video }
}
