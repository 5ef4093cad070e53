package import Assets
package import EventLoop
import Fetching
import HLS
import SegmentFormat
import Store

/// The timestamp at which an asset's media begins, read from a stored segment.
package struct MediaStart {
    /// In ticks of 90 kHz, modulo 2^33 as in MPEG-2 transport streams.
    package let ticks: UInt64

    static let wrap: Int64 = 1 << 33

    /// - Parameters:
    ///   - ticks: a timestamp of a segment, in ticks of 90 kHz.
    ///   - time: the segment's start in the playlist, in seconds.
    init(ticks: Int64, at time: Double) {
        let start = ticks - Int64((min(max(time, 0), 1e9) * 90_000).rounded())
        self.ticks = UInt64((start % Self.wrap + Self.wrap) % Self.wrap)
    }

    /// Reads the start of an asset's media; nil if no stored segment shows it. The first stored segment of the first variant decides. It
    /// is verified before: the times of what is attached follow from it.
    @LoopActor package init?(storedOf asset: Asset) async {
        let variants = Set(asset.multivariant?.variants.map(\.renditionIndex) ?? [])
        let renditions = asset.renditions.filter { $0.name.content == .media && !$0.name.isIFramesOnly }
        let own = renditions.filter { variants.contains($0.index) }
        let others = renditions.filter { !variants.contains($0.index) }
        for rendition in own + others {
            if let start = await rendition.readMediaStart() {
                self = start
                return
            }
        }
        return nil
    }
}

extension Rendition {
    /// A damaged segment is set aside, and the next one decides.
    @LoopActor fileprivate func readMediaStart() async -> MediaStart? {
        while let (segment, time) = firstStored {
            let needed = [segment.map.map { name(of: $0).description }, file(of: segment)].compactMap(\.self)
            guard await folder.verifiedIdentities(of: needed).count == needed.count else {
                // One that is there and cannot be read stays the first.
                guard let next = firstStored, next.segment.index != segment.index else { return nil }
                continue
            }
            return start(of: segment).map { MediaStart(ticks: $0, at: time) }
        }
        return nil
    }

    /// The first stored segment, with its start in the playlist in seconds.
    private var firstStored: (segment: Segment, time: Double)? {
        guard let source, source.isDurable else { return nil }
        var time = 0.0
        for segment in source.playlist.segments {
            if !segment.isGap, folder.contains(file(of: segment)) {
                return (segment, time)
            }
            time += segment.duration.seconds
        }
        return nil
    }

    /// The earliest presentation time in a segment, in ticks of 90 kHz.
    private func start(of segment: Segment) -> Int64? {
        folder.reading(file(of: segment)) { piece in
            guard let source = clear(segment, piece) else { return nil }
            if let map = segment.map {
                let section = folder.beginning(of: name(of: map).description, count: Self.sectionLimit)
                guard let section = try? InitializationSection(section), let media = try? MediaSegment(source) else {
                    return nil
                }
                return media.times(of: section).map { Int64(($0.start.seconds * 90_000).rounded()) }.min()
            }
            if let transport = try? TransportStream(source) {
                return transport.streams.compactMap(\.firstTime).min().map { Int64($0) }
            }
            guard let audio = try? PackedAudio(source) else { return nil }
            return Int64(audio.firstTime)
        }
    }

    /// The segment, decrypted if its key is stored; nil if it cannot be decrypted.
    private func clear(_ segment: Segment, _ piece: ByteSource) -> ByteSource? {
        guard let key = segment.keys.first(where: { $0.method != .none }) else { return piece }
        guard key.method == .aes128, let number = number(of: key), piece.count <= Self.cipherLimit,
            let bytes = piece.contents()
        else { return nil }
        let secret = keys.folder.beginning(of: KeyRing.name(number).description, count: 16)
        let clear = SegmentCipher.decrypted(bytes, key: secret, vector: key.vector(for: segment))
        return clear.map { ByteSource($0) }
    }

    /// The longest initialization section, and the longest encrypted segment that is decrypted in memory, in bytes.
    private static let sectionLimit = 1 << 20
    private static let cipherLimit = 32 << 20
}
