import Assets
import EventLoop
import Fetching
import Glibc
import HLS
import SegmentFormat
import Store

/// Chooses the keys of a download that are tried on its segments: each of the first eight, then each sixteenth. Pure.
struct KeySamples {
    private var ranks: [Int: Int] = [:]
    private static let first = 8
    private static let step = 16

    /// True if a key, given by its number, is to be tried. Keys count in the order in which they are first asked about.
    mutating func includes(_ key: Int) -> Bool {
        let rank = ranks[key] ?? ranks.count
        ranks[key] = rank
        return rank < Self.first || rank % Self.step == 0
    }
}

/// Tries the keys of a download on its stored segments. An origin that requires a login, or more header fields, may answer a request
/// for a key with 16 other bytes: nothing shows it before the film is played.
///
/// A key fits if one of three segments, decrypted, begins as media or text does. The padding at the end says nothing: players do
/// not look at it. Keys of SAMPLE-AES cannot be tried, because the segments' own structure is not encrypted.
@LoopActor final class KeyTrial {
    /// A segment and its key, to be read outside the loop.
    struct Sample: Sendable {
        let key: Int
        fileprivate let keyFolder, folder: Directory
        fileprivate let keyFile, file: String
        fileprivate let vector: [UInt8]

        /// True if the key decrypts the segment; nil if either cannot be read. Blocks.
        func fits() -> Bool? {
            guard let key = Self.read(keyFile, in: keyFolder, count: 16), key.bytes.count == 16,
                let segment = Self.read(file, in: folder, count: MediaRecognition.length)
            else { return nil }
            let whole = segment.bytes.count / 16 * 16
            guard whole > 0,
                let clear = SegmentCipher.decrypted(Array(segment.bytes[..<whole]), key: key.bytes, vector: vector)
            else { return nil }
            return Self.isClear(clear, isWhole: segment.isWhole)
        }

        /// True if bytes begin as media or text does.
        static func isClear(_ bytes: [UInt8], isWhole: Bool) -> Bool {
            var content = bytes[...]
            if isWhole, let padding = bytes.last, (1...16).contains(padding), Int(padding) < bytes.count {
                content = bytes.dropLast(Int(padding))
            }
            return MediaRecognition.recognises(content, isWhole: isWhole) || MediaRecognition.isPicture(content)
                || MediaSignature.isText(content)
        }

        private static func read(_ file: String, in folder: Directory, count: Int) -> (bytes: [UInt8], isWhole: Bool)? {
            guard let descriptor = folder.openIfPresent(file) else { return nil }
            defer { close(descriptor) }
            let bytes = [UInt8](unsafeUninitializedCapacity: count + 1) { buffer, used in
                used = max(0, pread(descriptor, buffer.baseAddress, count + 1, 0))
            }
            return (Array(bytes.prefix(count)), bytes.count <= count)
        }
    }

    private let asset: Asset
    private var samples = KeySamples()
    private var fitting: Set<Int> = []
    /// The segments on which a key was tried in vain.
    private var failures: [Int: Int] = [:]
    /// The samples that are being read, by key.
    private var pending: [Int: Int] = [:]
    private static let attempts = 3

    init(_ asset: Asset) { self.asset = asset }

    /// The keys that do not fit, ascending.
    var unfit: [Int] { failures.filter { !fitting.contains($0.key) }.keys.sorted() }
    /// True if a key was tried often enough, and fits none.
    func isUnfit(_ key: Int) -> Bool { !fitting.contains(key) && failures[key] ?? 0 >= Self.attempts }

    /// Chooses a stored segment to try its key on; nil if that key is known, or is not to be tried.
    func sample(of segment: Segment, in rendition: Rendition) -> Sample? {
        guard let key = segment.keys.first(where: { $0.method == .aes128 }), let number = rendition.number(of: key),
            !fitting.contains(number), samples.includes(number),
            failures[number, default: 0] + pending[number, default: 0] < Self.attempts
        else { return nil }
        let file = rendition.file(of: segment)
        guard asset.keys.has(number), rendition.folder.contains(file),
            let keyFolder = try? asset.keys.folder.pieces().directory,
            let folder = try? rendition.folder.pieces().directory
        else { return nil }
        pending[number, default: 0] += 1
        return Sample(
            key: number, keyFolder: keyFolder, folder: folder, keyFile: KeyRing.name(number).description, file: file,
            vector: key.vector(for: segment))
    }

    /// Records the result of a sample.
    func record(_ fits: Bool?, of sample: Sample) {
        pending[sample.key, default: 1] -= 1
        if fits ?? false {
            fitting.insert(sample.key)
        } else if fits != nil {
            failures[sample.key, default: 0] += 1
        }
    }

    /// Tries the keys that are not known yet, on what is stored of these renditions. Returns the keys that do not fit.
    func run(on renditions: [Rendition]) async -> [Int] {
        var slice = LoopSlice()
        for rendition in renditions where rendition.recording == nil {
            guard let playlist = rendition.source?.playlist, !playlist.keys.isEmpty else { continue }
            for segment in playlist.segments {
                if let sample = sample(of: segment, in: rendition) {
                    await run(sample)
                }
                await slice.giveWay()
            }
        }
        return unfit
    }

    func run(_ sample: Sample) async {
        let fits = try? await DiskWork.run { sample.fits() }
        record(fits ?? nil, of: sample)
    }
}
