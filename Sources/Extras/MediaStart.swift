package import Assets
package import EventLoop
import Fetching
import Glibc
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
}

extension MediaStart {
    /// The start of an asset's media; nil if no stored segment shows it. The first stored segment of the first variant decides.
    @LoopActor package init?(of asset: Asset) {
        let variants = Set(asset.multivariant?.variants.map(\.renditionIndex) ?? [])
        let renditions = asset.renditions.filter { $0.name.content == .media && !$0.name.isIFramesOnly }
        let own = renditions.filter { variants.contains($0.index) }
        let others = renditions.filter { !variants.contains($0.index) }
        guard let start = (own + others).lazy.compactMap(\.mediaStart).first else { return nil }
        self = start
    }
}

extension Rendition {
    @LoopActor fileprivate var mediaStart: MediaStart? {
        guard let source, source.isDurable else { return nil }
        var time = 0.0
        for segment in source.playlist.segments {
            let file = file(of: segment)
            if !segment.isGap, folder.contains(file) {
                return start(of: segment, file).map { MediaStart(ticks: $0, at: time) }
            }
            time += segment.duration.seconds
        }
        return nil
    }

    /// The earliest presentation time in a segment, in ticks of 90 kHz.
    private func start(of segment: Segment, _ file: String) -> Int64? {
        guard let descriptor = folder.open(file), let size = folder.sizes[file] else { return nil }
        defer { close(descriptor) }
        guard let source = clear(segment, in: descriptor, count: Int(size)) else { return nil }
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

    /// The segment, decrypted if its key is stored; nil if it cannot be decrypted.
    private func clear(_ segment: Segment, in descriptor: Int32, count size: Int) -> ByteSource? {
        guard let key = segment.keys.first(where: { $0.method != .none }) else {
            return ByteSource(count: size) { Self.bytes(of: descriptor, in: $0) }
        }
        guard key.method == .aes128, let number = number(of: key), size <= Self.cipherLimit else { return nil }
        let bytes = Self.bytes(of: descriptor, in: 0..<size)
        let secret = keys.folder.beginning(of: KeyRing.name(number).description, count: 16)
        guard let clear = SegmentCipher.decrypted(bytes, key: secret, vector: key.vector(for: segment)) else {
            return nil
        }
        return ByteSource(clear)
    }

    private nonisolated static func bytes(of descriptor: Int32, in range: Range<Int>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: range.count) { buffer, used in
            used = max(0, pread(descriptor, buffer.baseAddress, range.count, off_t(range.lowerBound)))
        }
    }

    /// The longest initialization section, and the longest encrypted segment that is decrypted in memory, in bytes.
    private static let sectionLimit = 1 << 20
    private static let cipherLimit = 32 << 20
}
