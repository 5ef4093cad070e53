import EventLoop
import Fetching
import Playlist
public import Store

/// Describes one key of an asset, without the key: its uses and its lifetime.
public struct KeyReport: Sendable {
    /// The part of a rendition that it decrypts.
    public struct Use: Equatable, Sendable {
        /// The rendition's id.
        public let rendition: String
        /// From the start of its first segment to the end of its last, in seconds.
        public let time: Range<Double>
        /// The number of its segments.
        public let segments: Int
    }

    /// The permanent number of its file.
    public let number: Int
    /// True if its file is stored.
    public let isStored: Bool
    /// Says if it is usable, expired or revoked.
    public let state: KeyLife.State
    /// Its lifetime.
    public let life: KeyLife
    /// The expiration date, in seconds since 1970; nil for never.
    public let expiration: Int64?
    /// The remaining lifetime.
    public let remaining: KeyLife.Remaining
    /// Its uses, in the order of the renditions.
    public let uses: [Use]
}

extension Library {
    /// Describes the keys of an asset, by number.
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
    /// The uses of each key, from the known playlists.
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
