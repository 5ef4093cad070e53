import EventLoop
import Library
import Playlist

/// How far a download is, worked out from what is on disk.
public struct DownloadProgress: Sendable {
    /// The media time for which every selected rendition is there.
    public var loaded = TimeRanges()
    /// The media's length in seconds.
    public var duration = 0.0
    /// The bytes that are there.
    public var bytes: Int64 = 0
    /// The bytes that all will have: an estimate, until everything is there.
    public var totalBytes: Int64 = 0
    /// What comes next: `video`, `audio`, `subtitles`; nil when nothing does.
    public var stage: String?

    /// - Parameter bandwidth: the chosen variant's, in bits a second, to estimate by while little is there.
    @LoopActor init(of renditions: [Rendition], bandwidth: Int) {
        for (place, rendition) in renditions.enumerated() {
            let part = Part(of: rendition)
            loaded = place == 0 ? part.loaded : loaded.intersection(part.loaded)
            duration = max(duration, rendition.source?.playlist.duration ?? 0)
            bytes += part.bytes
            totalBytes += part.estimate(bandwidth: Self.share(of: bandwidth, at: place))
            if stage == nil, !rendition.isWhole { stage = Self.stage(rendition) }
        }
    }

    /// What a rendition has of the variant's bandwidth, which is that of the variant together with one rendition of each of
    /// its groups (RFC 8216 §4.3.4.2): the second counts as part of the first, and the others as sound.
    private static func share(of bandwidth: Int, at place: Int) -> Int {
        switch place {
        case 0: bandwidth
        case 1: 0
        default: min(128_000, bandwidth / 4)
        }
    }

    @LoopActor private static func stage(_ rendition: Rendition) -> String {
        let kind = rendition.name.id.prefix { $0 != "-" }
        return ["audio", "subtitles"].contains(String(kind)) ? String(kind) : "video"
    }

    /// One rendition's share.
    private struct Part {
        var loaded = TimeRanges()
        var bytes: Int64 = 0
        var missing = 0.0

        @LoopActor init(of rendition: Rendition) {
            bytes = rendition.folder.bytes
            var time = 0.0
            guard let segments = rendition.source?.playlist.segments else { return }
            for segment in segments {
                let end = time + segment.duration
                if segment.isGap || rendition.folder.contains(rendition.file(of: segment)) {
                    if end > time { loaded.append(time..<end) }
                } else {
                    missing += segment.duration
                }
                time = end
            }
        }

        /// By what is there once that says enough; by the announced bandwidth before.
        func estimate(bandwidth: Int) -> Int64 {
            guard missing > 0 else { return bytes }
            let known = loaded.duration
            let rate = known >= 0.05 * (known + missing) ? Double(bytes) / known : Double(bandwidth) / 8
            return bytes + Int64(min(rate * missing, 1e15))
        }
    }
}
