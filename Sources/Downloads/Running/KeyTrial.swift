import Assets
import EventLoop
import Fetching
import Glibc
import HLS
import HTTPMessage
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
    /// The samples on which a key was tried in vain, by key: at most as many as attempts.
    private var failed: [Int: [Sample]] = [:]
    private static let attempts = 3

    init(_ asset: Asset) { self.asset = asset }

    /// The keys that do not fit, ascending.
    var unfit: [Int] { failures.filter { !fitting.contains($0.key) }.keys.sorted() }
    /// True if a key was tried often enough, and fits none.
    func isUnfit(_ key: Int) -> Bool { !fitting.contains(key) && failures[key] ?? 0 >= Self.attempts }

    /// The error of a download with a key that does not fit.
    func error(about key: Int) -> LibraryError {
        LibraryError(.keyUnfit, "\(asset.name) cannot be played: \(fault(of: key)); what is stored is kept")
    }

    /// A part of a sentence about a key that does not fit.
    func fault(of key: Int) -> String {
        let host = asset.keys.resource(key)?.url.host ?? "the origin"
        return "what \(host) sent as key \(key) does not decrypt its segments"
    }

    /// Chooses a stored segment to try its key on; nil if that key is known, or is not to be tried.
    func sample(of segment: Segment, in rendition: Rendition) -> Sample? {
        guard let key = segment.keys.first(where: { $0.method == .aes128 }), let number = rendition.number(of: key),
            isWanted(number)
        else { return nil }
        return sample(of: segment, key: key, number, file: rendition.file(of: segment), in: rendition)
    }

    /// Chooses a stored segment of a recording, which may not be listed yet; nil as above.
    func sample(of item: Recording.Item, in rendition: Rendition) -> Sample? {
        guard case .segment(let segment, _, _) = item.entry, let file = item.file,
            let key = segment.keys.first(where: { $0.method == .aes128 }),
            let number = rendition.number(of: key, in: item.source), isWanted(number)
        else { return nil }
        return sample(of: segment, key: key, number, file: file.description, in: rendition)
    }

    /// True if one more segment says something about the key.
    private func isWanted(_ number: Int) -> Bool {
        !fitting.contains(number) && samples.includes(number)
            && failures[number, default: 0] + pending[number, default: 0] < Self.attempts
    }

    private func sample(
        of segment: Segment, key: Key, _ number: Int, file: String, in rendition: Rendition
    ) -> Sample? {
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
            failed[sample.key] = nil
        } else if fits != nil {
            failures[sample.key, default: 0] += 1
            failed[sample.key, default: []].append(sample)
        }
    }

    /// Tries a key again on the segments on which it was tried in vain: its bytes have changed.
    func runAgain(_ key: Int) async {
        let again = failed.removeValue(forKey: key) ?? []
        failures[key] = nil
        for sample in again where !fitting.contains(key) {
            pending[key, default: 0] += 1
            await run(sample)
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
