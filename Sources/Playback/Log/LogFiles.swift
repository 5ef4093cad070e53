internal import FoundationEssentials
import Glibc

/// The files of the logs: `access-2026-11-21.log` and `errors-2026-11-21.log`, one a day (UTC), in a folder of their
/// own.
///
/// Each line of the Extended Log File Format follows a `#Remark:` with the whole event as JSON, which analysis tools
/// pass over: what the format has no field for stands there, and from there events are read again. Files of other days
/// are deleted when their time has come. A file that cannot be written costs what was to be written, and one sentence.
///
/// Works on a thread of its own: a slow disk delays nobody.
actor LogFiles {
    /// Where, for how long, and by whom.
    struct Place: Sendable {
        /// The folder; made when there is something to write.
        var folder: String
        /// How many days' files are kept, today's among them; 0 for no log.
        var days: Int
        /// As it stands in each file.
        var software: String
        /// One day's file grows no further.
        var limit: Int64 = 16 << 20
    }

    private let place: Place
    private let report: @Sendable (String) -> Void
    /// Whether it was said that nothing can be written, and nothing was since.
    private var isInTrouble = false
    /// The last day that old files were looked for.
    private var swept = ""

    init(_ place: Place, report: @escaping @Sendable (String) -> Void) {
        self.place = place
        self.report = report
    }

    // MARK: Writing

    /// Writes events that have ended into the file of a day.
    func append<Event: LogEvent>(_ events: [Event], at seconds: Double) {
        guard place.days > 0, !events.isEmpty else { return }
        let day = LogDate(seconds).day
        do throws(LogTrouble) {
            try makeFolder()
            if day != swept { sweep(at: seconds) }
            swept = day
            let header = Event.header(.w3c, software: place.software, at: seconds)
            try write(events.flatMap(Self.lines), after: header, to: Self.name(Event.self, day))
            isInTrouble = false
        } catch {
            if !isInTrouble { report("nothing is logged in \(place.folder): \(error.sentence)") }
            isInTrouble = true
        }
    }

    private static func lines(_ event: some LogEvent) -> [String] {
        let json = (try? encoder.encode(event)).map { String(decoding: $0, as: UTF8.self) }
        return (json.map { [remark + $0] } ?? []) + [event.line(.w3c)]
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    private static let remark = "#Remark: "

    private static func name<Event: LogEvent>(_ type: Event.Type, _ day: String) -> String {
        "\(type.fileName)-\(day).log"
    }

    private func makeFolder() throws(LogTrouble) {
        guard mkdir(place.folder, 0o700) == 0 || errno == EEXIST else { throw LogTrouble(errno) }
    }

    private func write(_ lines: [String], after header: [String], to name: String) throws(LogTrouble) {
        let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW
        let file = open("\(place.folder)/\(name)", flags, 0o600)
        guard file >= 0 else { throw LogTrouble(errno) }
        defer { close(file) }
        let start = Self.wholeLines(file)
        guard start < place.limit else { throw LogTrouble("\(name) is as large as it may be") }
        let text = ((start == 0 ? header : []) + lines).map { $0 + "\n" }.joined()
        let bytes = Array(text.utf8)
        let count = Glibc.write(file, bytes, bytes.count)
        guard count != bytes.count else { return }
        let trouble = count < 0 ? LogTrouble(errno) : LogTrouble(ENOSPC)
        ftruncate(file, off_t(start))
        throw trouble
    }

    /// The length of a file, without a last line that a crash has cut off.
    private static func wholeLines(_ file: Int32) -> Int64 {
        var status = stat()
        guard fstat(file, &status) == 0 else { return 0 }
        var end = Int64(status.st_size)
        var byte: UInt8 = 0
        while end > 0, pread(file, &byte, 1, off_t(end - 1)) == 1, byte != UInt8(ascii: "\n") { end -= 1 }
        if end < Int64(status.st_size) { ftruncate(file, off_t(end)) }
        return end
    }

    // MARK: Keeping

    /// Deletes the files of days that are to be kept no longer.
    private func sweep(at seconds: Double) {
        let last = LogDate(seconds - Double(place.days) * 86_400).day
        for name in names where Self.day(of: name).map({ $0 <= last }) ?? false { unlink("\(place.folder)/\(name)") }
    }

    private var names: [String] {
        guard let folder = opendir(place.folder) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names
    }

    /// The day that a file of ours is about; nil for what is none.
    private static func day(of name: String) -> String? {
        guard name.hasSuffix(".log") else { return nil }
        let parts = name.dropLast(4).split(separator: "-", maxSplits: 1)
        guard parts.count == 2, [AccessEvent.fileName, ErrorEvent.fileName].contains(String(parts[0])) else {
            return nil
        }
        let shape = parts[1].map { $0.isASCII && $0.isWholeNumber ? "0" : $0 }
        return String(shape) == "0000-00-00" ? String(parts[1]) : nil
    }

    // MARK: Reading

    /// The last events that a query takes, oldest first.
    func events<Event: LogEvent>(_ query: LogQuery) -> [Event] {
        let files = names.filter { $0.hasPrefix(Event.fileName + "-") && Self.day(of: $0) != nil }.sorted()
        let first = query.since.map { Self.name(Event.self, LogDate($0).day) } ?? ""
        var found: [Event] = []
        for name in files.reversed() where name >= first && found.count < query.limit {
            found += events(in: name, query, atMost: query.limit - found.count)
        }
        return found.reversed()
    }

    /// Latest first.
    private func events<Event: LogEvent>(in name: String, _ query: LogQuery, atMost limit: Int) -> [Event] {
        guard let data = try? Data(contentsOf: URL(filePath: "\(place.folder)/\(name)")) else { return [] }
        var found: [Event] = []
        let decoder = JSONDecoder()
        for line in data.split(separator: UInt8(ascii: "\n")).reversed() where line.starts(with: Self.remark.utf8) {
            guard found.count < limit else { break }
            let json = line.dropFirst(Self.remark.utf8.count)
            if let event = try? decoder.decode(Event.self, from: Data(json)), query.takes(event) { found.append(event) }
        }
        return found
    }
}

/// Why a log cannot be written.
private struct LogTrouble: Error {
    let sentence: String

    init(_ sentence: String) { self.sentence = sentence }
    init(_ number: Int32) { sentence = String(cString: strerror(number)) }
}
