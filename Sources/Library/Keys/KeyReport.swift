import EventLoop
import Fetching
import Playlist
public import Store

/// One key of an asset, without the key: what it is for, and how long it is good.
public struct KeyReport: Sendable {
    /// What of a rendition it decrypts.
    public struct Use: Equatable, Sendable {
        /// The rendition's id.
        public let rendition: String
        /// From the first to the last segment that it is for, in seconds.
        public let time: Range<Double>
        /// How many segments that are.
        public let segments: Int
    }

    /// Names its file for ever.
    public let number: Int
    /// Whether its file is there.
    public let isStored: Bool
    /// Whether it may be used.
    public let state: KeyLife.State
    /// What is known of it.
    public let life: KeyLife
    /// When it expires, in seconds since 1970; nil for never.
    public let expiration: Int64?
    /// How long it is good for still.
    public let remaining: KeyLife.Remaining
    /// In the order of the renditions.
    public let uses: [Use]
}

extension Library {
    /// The keys of an asset, by number.
    public func keyReports(of asset: Asset) -> [KeyReport] {
        findArrivals(of: asset)
        let (keys, terms, now) = (asset.keys, asset.keys.terms, date())
        _ = keys.unusable
        let uses = asset.keyUses
        return keys.allNumbers.map { number in
            let life = keys.life(of: number)
            return KeyReport(
                number: number, isStored: keys.folder.contains(KeyRing.name(number).description),
                state: keys.state(of: number), life: life, expiration: life.expiration(by: terms),
                remaining: life.remaining(by: terms, at: now), uses: uses[number] ?? [])
        }
    }
}

extension Asset {
    /// What each key is for, as far as the playlists are known.
    fileprivate var keyUses: [Int: [KeyReport.Use]] {
        var uses: [Int: [KeyReport.Use]] = [:]
        for rendition in renditions {
            var spans: [Int: (start: Double, end: Double, count: Int)] = [:]
            var time = 0.0
            guard let segments = rendition.source?.playlist.segments else { continue }
            for segment in segments {
                let end = time + segment.duration
                for number in Set(segment.keys.compactMap { rendition.number(of: $0) }) {
                    let known = spans[number]
                    spans[number] = (known?.start ?? time, end, (known?.count ?? 0) + 1)
                }
                time = end
            }
            for (number, span) in spans {
                uses[number, default: []].append(
                    .init(rendition: rendition.name.id, time: span.start..<span.end, segments: span.count))
            }
        }
        return uses
    }
}
