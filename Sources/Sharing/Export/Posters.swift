package import Assets
import CLinux
package import EventLoop
import Extras
import Glibc
package import HTTPMessage
import Store
import Subprocess

/// Makes pictures of films, for lists, by ffmpeg: a stored thumbnail, or else one frame of a stored segment.
///
/// They are made one after the other, when somebody looks at the list, and are kept in memory alone: nothing of a removed asset stays.
@LoopActor package final class Posters {
    /// A picture, or nil if what was stored gave none.
    private struct Known {
        let bytes: Int64
        /// The tracks of thumbnails that were there.
        let thumbnails: [String]
        let picture: Artwork?
    }

    private let library: Library
    private var known: [String: Known] = [:]
    private var order: [String] = []
    private var last: Task<Artwork?, Never>?

    /// The most pictures that are kept, of about 20 kB each.
    private static let limit = 500

    init(_ library: Library) { self.library = library }

    /// A picture of an asset; nil if none can be made: nothing is stored, it has no film, or its key is not at hand.
    package func poster(of asset: Asset) async -> Artwork? {
        let before = last
        let work = Task { @LoopActor in
            _ = await before?.value
            return await self.knownOrNew(of: asset)
        }
        last = work
        return await work.value
    }

    private func knownOrNew(of asset: Asset) async -> Artwork? {
        await library.wake(asset)
        let bytes = asset.bytes
        let thumbnails = StoredSegment.thumbnailTracks(of: asset).map(\.name.id)
        // More that is stored may give what less did not.
        if let found = known[asset.id], found.thumbnails == thumbnails, found.picture != nil || found.bytes == bytes {
            return found.picture
        }
        let picture = await make(of: asset)
        remember(Known(bytes: bytes, thumbnails: thumbnails, picture: picture), of: asset)
        return picture
    }

    private func make(of asset: Asset) async -> Artwork? {
        guard bytesAreStored(of: asset), let program = FrameProgram() else { return nil }
        for (thumbnail, tile) in await StoredSegment.thumbnails(of: asset) {
            if let picture = await program.picture(of: thumbnail, tile) {
                return picture
            }
        }
        for segment in await StoredSegment.candidates(of: asset) {
            if let picture = await program.picture(of: segment) {
                return picture
            }
        }
        return nil
    }

    private func bytesAreStored(of asset: Asset) -> Bool { asset.bytes > 0 && !asset.isRemoved }

    private func remember(_ picture: Known, of asset: Asset) {
        if known.updateValue(picture, forKey: asset.id) == nil {
            order.append(asset.id)
        }
        guard order.count > Self.limit else { return }
        known[order.removeFirst()] = nil
    }
}

/// ffmpeg, as it makes one frame of what it reads: it opens no file and no address, and has little memory and time.
private struct FrameProgram: Sendable {
    private let words: [String]

    /// In bytes, and in seconds of processor time.
    private static let memory = 2 << 30
    private static let seconds = 10

    /// Nil if ffmpeg is not installed.
    init?() {
        guard let ffmpeg = ChildProgram.find("ffmpeg") else { return nil }
        var words: [String] = []
        // Both are of util-linux, which each Debian has.
        if let idle = ChildProgram.find("chrt") {
            words += [idle, "--idle", "0"]
        }
        if let limits = ChildProgram.find("prlimit") {
            words += [limits, "--as=\(Self.memory)", "--cpu=\(Self.seconds)", "--nofile=64"]
        }
        words += [ffmpeg, "-nostdin", "-v", "quiet", "-threads", "1", "-protocol_whitelist", "pipe", "-i", "pipe:0"]
        self.words = words
    }

    /// The first frame of a segment, or of a part of it; nil if there is none.
    func picture(of segment: StoredSegment, _ part: ThumbnailTile? = nil) async -> Artwork? {
        let bytes = try? await DiskWork.run { () throws(StoreError) in frame(of: segment.read(), part) }
        return bytes.flatMap { Artwork($0) }
    }

    /// A JPEG of the first frame, or of a part of it; nil if there is none. Blocks.
    private func frame(of segment: [UInt8]?, _ part: ThumbnailTile?) -> [UInt8]? {
        var filter = "scale=480:-2"
        if let part {
            filter = "crop=\(part.width):\(part.height):\(part.x):\(part.y)," + filter
        }
        var words = self.words
        words += ["-map", "0:v:0", "-frames:v", "1", "-vf", filter, "-c:v", "mjpeg", "-q:v", "5"]
        words += ["-f", "image2pipe", "pipe:1"]
        guard let segment else { return nil }
        let input = weir_memfd_create("weir-segment")
        let output = weir_memfd_create("weir-frame")
        defer {
            close(input)
            close(output)
        }
        guard input >= 0, output >= 0, Self.write(segment, to: input), lseek(input, 0, SEEK_SET) == 0 else {
            return nil
        }
        let streams: (SpawnedProcess.Stream, SpawnedProcess.Stream, SpawnedProcess.Stream) = (
            .descriptor(input), .descriptor(output), .file("/dev/null", O_WRONLY)
        )
        guard let process = try? SpawnedProcess(words, streams: streams, leadsGroup: true), process.wait() == .code(0)
        else { return nil }
        return Self.read(output)
    }

    private static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress! + done, bytes.count - done) }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    private static func read(_ file: Int32) -> [UInt8]? {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_size > 0, status.st_size <= Artwork.limit else { return nil }
        let count = Int(status.st_size)
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            used = max(0, pread(file, buffer.baseAddress, count, 0))
        }
        guard bytes.count == count else { return nil }
        return bytes
    }
}
