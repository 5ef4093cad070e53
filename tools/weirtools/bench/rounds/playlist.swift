import Glibc
import HLS

/// One round of tools/bench playlist: parses a playlist again and again and writes it with other names, as for a player.
///
///     weir FILE COUNT
///
/// Prints the median of parsing and that of parsing with rendering, in microseconds, and the most memory that both took at
/// once, in bytes: the text, the parsed playlist, and what was written.
@main enum Round {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let count = Int(arguments[2]), let text = read(arguments[1]) else { exit(64) }
        let peak = memory(text)
        var (parsing, whole): ([Double], [Double]) = ([], [])
        for _ in 0..<count {
            let start = now()
            let playlist = parsed(text)
            let middle = now()
            render(playlist)
            whole.append(now() - start)
            parsing.append(middle - start)
        }
        print(median(parsing), median(whole), peak)
    }

    /// The peak in bytes, without the memory that the language takes once for its first playlist.
    private static func memory(_ text: [UInt8]) -> Int {
        let segments = String(repeating: "#EXTINF:6,\na-long-enough-name.ts\n", count: 64)
        let variants = String(
            repeating: "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\na-long-enough-name.m3u8\n", count: 32)
        for small in [segments, variants] { run(Array("#EXTM3U\n\(small)".utf8)) }
        let before = resident("VmRSS:")
        clearPeak()
        run(text)
        return resident("VmHWM:") - before + text.count
    }

    private static func run(_ text: [UInt8]) { render(parsed(text)) }

    private static func parsed(_ text: [UInt8]) -> Playlist {
        do { return try Playlist.parse(text) } catch { fail("\(error)") }
    }

    @inline(never) private static func render(_ playlist: Playlist) {
        do {
            let output =
                switch playlist {
                case .media(let playlist): try playlist.rendered(.plain, naming: name)
                case .multivariant(let playlist): try playlist.rendered(.player, naming: name)
                }
            if output.count <= 100 { fail("nothing was written") }
        } catch {
            fail("\(error)")
        }
    }

    /// Ends the round, and with it the benchmark, which shows what is said.
    private static func fail(_ reason: String) -> Never {
        // The variable stderr is not safe to share between threads, which Swift 6 rejects.
        let line = "\(reason)\n"
        write(STDERR_FILENO, line, line.utf8.count)
        exit(65)
    }

    private static func name(_ reference: MediaPlaylist.Reference) -> String? {
        switch reference {
        case .segment(let segment): "/a/sintel-k3f9/0/video-1080p/\(segment.mediaSequenceNumber).m4s"
        case .map(let map): "/a/sintel-k3f9/0/video-1080p/init-\(map.index).mp4"
        case .key(let key): "/a/sintel-k3f9/0/keys/\(key.index).key"
        default: nil
        }
    }

    private static func name(_ reference: MultivariantPlaylist.Reference) -> String? {
        reference.renditionIndex.map { "/a/sintel-k3f9/0/\($0)/media.m3u8" }
    }

    private static func read(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        fseek(file, 0, SEEK_END)
        let size = ftell(file)
        rewind(file)
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = fread(buffer.baseAddress, 1, size, file)
        }
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    /// A line of /proc/self/status, in bytes.
    private static func resident(_ name: String) -> Int {
        let status = String(decoding: readAll("/proc/self/status"), as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return 1024 * (line?.split { !("0"..."9").contains($0) }.first.flatMap { Int($0) } ?? 0)
    }

    private static func readAll(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        return [UInt8](unsafeUninitializedCapacity: 8192) { buffer, count in
            count = fread(buffer.baseAddress, 1, 8192, file)
        }
    }

    /// The peak is counted from here.
    private static func clearPeak() {
        guard let file = fopen("/proc/self/clear_refs", "w") else { return }
        fputs("5", file)
        fclose(file)
    }
}
