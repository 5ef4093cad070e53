import Glibc
import SegmentFormat

/// One round of tools/bench splice: plans a segment on disk again and again, and puts it together as it is sent.
///
///     weir PLAYLIST'S-SECTION SOURCE'S-SECTION SEGMENT COUNT
///
/// Prints the medians of planning, and of planning with every byte read into memory, in microseconds; the bytes that planning
/// reads, and those that come from memory when the rest is sent by sendfile.
@main enum Round {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let count = Int(arguments[4]), let file = File(arguments[3]),
            let playlist = section(arguments[1]), let source = section(arguments[2])
        else { exit(64) }
        let pair = SplicePair(of: source, behind: playlist)
        var (planning, whole): ([Double], [Double]) = ([], [])
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: file.size + (1 << 20), alignment: 4096)
        // The first time, the system gives memory.
        file.write(plan(pair, file), to: room)
        file.bytesRead = 0
        let inMemory = plan(pair, file).pieces.reduce(0) {
            if case .bytes(let bytes) = $1 { $0 + bytes.count } else { $0 }
        }
        let read = file.bytesRead
        for _ in 0..<count {
            let start = now()
            let splice = plan(pair, file)
            let middle = now()
            file.write(splice, to: room)
            whole.append(now() - start)
            planning.append(middle - start)
        }
        print(median(planning), median(whole), read, inMemory)
    }

    private static func plan(_ pair: SplicePair, _ file: File) -> Splice {
        do {
            return try pair.splice(ByteSource(count: file.size, reading: file.read))
        } catch {
            print(error)
            exit(65)
        }
    }

    private static func section(_ path: String) -> InitializationSection? {
        guard let file = File(path), let bytes = file.read(0..<file.size) else { return nil }
        return try? InitializationSection(bytes)
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}

/// A file that is read where it is asked for.
final class File {
    let size: Int
    var bytesRead = 0
    private let descriptor: Int32

    init?(_ path: String) {
        descriptor = open(path, O_RDONLY)
        size = descriptor < 0 ? 0 : Int(lseek(descriptor, 0, SEEK_END))
        if descriptor < 0 { return nil }
    }

    func read(_ range: Range<Int>) -> [UInt8]? {
        bytesRead += range.count
        return [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, range.count, range.lowerBound))
        }
    }

    /// All that is sent, as a program without sendfile would have it.
    func write(_ splice: Splice, to room: UnsafeMutableRawBufferPointer) {
        var position = 0
        for piece in splice.pieces {
            switch piece {
            case .bytes(let bytes): UnsafeMutableRawBufferPointer(rebasing: room[position...]).copyBytes(from: bytes)
            case .original(let range): pread(descriptor, room.baseAddress! + position, range.count, range.lowerBound)
            }
            position += piece.count
        }
    }
}
