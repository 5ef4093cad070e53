internal import FoundationEssentials
import Glibc
import SafeText

/// The folder of the log files.
package struct LogFolder: Sendable {
    /// The path; the folder is created with the first event.
    package var path: String
    /// Number of days whose files are kept, today included; 0 for no log.
    package var days: Int
    /// The `#Software` of each file, such as `Weir/0.1.0`.
    package var software: String
    /// Maximum size of a day's file in bytes.
    package var limit: Int64

    package init(path: String, days: Int, software: String, limit: Int64 = 16 << 20) {
        self.path = path
        self.days = days
        self.software = software
        self.limit = limit
    }
}

/// The events that are written together.
struct LogBatch: Sendable {
    var access: [AccessEvent] = []
    var errors: [ErrorEvent] = []
    var sessions: [SessionTimeline] = []
    /// The removed assets, whose events are deleted.
    var erasures: [(name: String, id: String)] = []
    /// The assets with new names, under which their events are shown.
    var renames: [(former: String, name: String)] = []
    /// The running sessions, which are to be kept; nil if there is no change.
    var running: [SessionTimeline]?
    /// True to log the sessions that a killed daemon has left.
    var recovers = false

    var isEmpty: Bool {
        access.isEmpty && errors.isEmpty && sessions.isEmpty && erasures.isEmpty && renames.isEmpty && running == nil
            && !recovers
    }
}

/// The log files, such as `access-2026-11-21.log`, `errors-…` and `sessions-…`: one per day (UTC) and log.
///
/// Each line of the Extended Log File Format follows a `#Remark:` with the event as JSON, from which events are read
/// back, because the format lacks fields. If a file cannot be written, its events are lost and one sentence is
/// reported. The actor runs on a thread of its own, so that a slow disk does not delay the loop.
actor LogFiles {
    private let folder: LogFolder
    private let report: @Sendable (String) -> Void
    /// True if the failure to write was reported and no write has succeeded since.
    private var hasFailed = false
    /// The last day on which old files were deleted.
    private var swept = ""

    init(_ folder: LogFolder, report: @escaping @Sendable (String) -> Void) {
        self.folder = folder
        self.report = report
    }

    /// Writes a batch to the files of a day.
    func write(_ batch: LogBatch, at seconds: Double) {
        if batch.recovers {
            recover(at: seconds)
        }
        append(batch.access, at: seconds)
        append(batch.errors, at: seconds)
        append(batch.sessions, at: seconds)
        for rename in batch.renames {
            self.rename(assetNamed: rename.former, to: rename.name)
        }
        if let running = batch.running {
            keep(running)
        }
        for (name, id) in batch.erasures {
            erase(assetNamed: name, id: id)
        }
    }

    /// Appends ended events to the file of a day.
    func append<Event: LogEvent>(_ events: [Event], at seconds: Double) {
        guard folder.days > 0, !events.isEmpty else { return }
        let day = LogDate(seconds).day
        do throws(AccessLogError) {
            try makeFolder()
            if day != swept {
                sweep(at: seconds)
            }
            swept = day
            let header = Event.header(.w3c, software: folder.software, at: seconds)
            try write(Self.lines(events), after: header, to: Self.name(Event.self, day))
            hasFailed = false
        } catch {
            if !hasFailed {
                report("events cannot be logged in \(folder.path): \(error)")
            }
            hasFailed = true
        }
    }

    private static func lines(_ events: [some LogEvent]) -> [String] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return events.flatMap { event -> [String] in
            let line = event.line(.w3c)
            guard let json = try? encoder.encode(event) else { return [line] }
            return [LogText.remark + String(decoding: json, as: UTF8.self), line]
        }
    }

    private static func name<Event: LogEvent>(_ type: Event.Type, _ day: String) -> String {
        "\(type.fileName)-\(day).log"
    }

    // MARK: Running sessions

    /// The file with the timelines of running sessions, which a daemon that is killed cannot log.
    private static let runningFile = "\(SessionTimeline.fileName)-running.log"

    /// Replaces the timelines of running sessions, with those of now; without any, there is no file.
    func keep(_ timelines: [SessionTimeline]) {
        guard !folder.path.isEmpty else { return }
        let path = "\(folder.path)/\(Self.runningFile)"
        guard folder.days > 0, !timelines.isEmpty else {
            unlink(path)
            return
        }
        do throws(AccessLogError) {
            try makeFolder()
            try replace(path, with: Array(Self.lines(timelines).map { $0 + "\n" }.joined().utf8))
        } catch {
            if !hasFailed {
                report("running sessions cannot be logged in \(folder.path): \(error)")
            }
            hasFailed = true
        }
    }

    /// Logs the sessions that a killed daemon has left, as ended when they were last kept.
    func recover(at seconds: Double) {
        guard !folder.path.isEmpty else { return }
        let left: [SessionTimeline] = events(in: Self.runningFile, LogQuery(), atMost: .max).reversed()
        let lost = left.filter { session in
            // It may have ended in order since then.
            let began = Moment(clamping: session.began)
            let logged: [SessionTimeline] = events(LogQuery(session: session.guid, since: began, limit: 1))
            return logged.isEmpty
        }
        let ended = lost.map { session in
            var session = session
            session.ended = session.began + session.length
            return session
        }
        append(ended, at: seconds)
        unlink("\(folder.path)/\(Self.runningFile)")
    }

    // MARK: Renaming

    /// Gives the events so far of an asset its new name. Events of a removed asset with that name stay as they are: they are not
    /// shown.
    func rename(assetNamed former: String, to name: String) {
        guard !folder.path.isEmpty else { return }
        // Their marks are those of the former name.
        completeErasures()
        for file in names where Self.day(of: file) != nil || file == Self.runningFile {
            guard let data = try? Data(contentsOf: URL(filePath: path(of: file)), options: .mappedIfSafe) else {
                continue
            }
            let renamed = data.withUnsafeBytes {
                LogText($0).replacing(LogErasure.mark(former), by: LogErasure.mark(name))
            }
            guard let renamed else { continue }
            do throws(AccessLogError) {
                try replace(path(of: file), with: renamed)
            } catch {
                report("the events of \(former) in \(path(of: file)) do not get its new name: \(error)")
            }
        }
    }

    // MARK: Erasing

    /// The file with the erasures whose bytes are still to be rewritten.
    private static let erasuresFile = "erasures.json"
    /// The erasures in that file; nil before it was read.
    private var knownErasures: [LogErasure]?

    private var erasures: [LogErasure] {
        if let knownErasures {
            return knownErasures
        }
        var read: [LogErasure] = []
        if let data = try? Data(contentsOf: URL(filePath: path(of: Self.erasuresFile))) {
            read = (try? JSONDecoder().decode([LogErasure].self, from: data)) ?? []
        }
        knownErasures = read
        return read
    }

    /// Notes that the events so far of an asset, known by its name or its id in their URLs, are not to be shown, and that
    /// their bytes are to be deleted by `completeErasures()`.
    func erase(assetNamed name: String, id: String) {
        guard !folder.path.isEmpty else { return }
        // It is small, and replaced all the time.
        rewrite(Self.runningFile, without: [LogErasure(name: name, id: id, ends: [Self.runningFile: .max])])
        var ends: [String: Int] = [:]
        for file in names where Self.day(of: file) != nil {
            ends[file] = size(of: file)
        }
        guard !ends.isEmpty else { return }
        save(erasures + [LogErasure(name: name, id: id, ends: ends)])
    }

    /// Deletes the events of all erasures so far from the files.
    func completeErasures() {
        let erasures = erasures
        guard !erasures.isEmpty else { return }
        for file in Set(erasures.flatMap(\.ends.keys)).sorted() {
            rewrite(file, without: erasures)
        }
        // Files that could not be rewritten were reported; the next removal would only fail again.
        save([])
    }

    private func save(_ erasures: [LogErasure]) {
        knownErasures = erasures
        let path = path(of: Self.erasuresFile)
        guard !erasures.isEmpty else {
            unlink(path)
            return
        }
        do {
            try replace(path, with: Array(try JSONEncoder().encode(erasures)))
        } catch {
            report("removed assets cannot be noted in \(path): \(error)")
        }
    }

    private func rewrite(_ file: String, without erasures: [LogErasure]) {
        guard let data = try? Data(contentsOf: URL(filePath: path(of: file)), options: .mappedIfSafe) else { return }
        let kept = data.withUnsafeBytes { bytes -> [UInt8]? in
            let text = LogText(bytes)
            let ranges = Self.events(of: erasures, in: text, of: file)
            return ranges.isEmpty ? nil : text.without(ranges)
        }
        guard let kept else { return }
        do throws(AccessLogError) {
            try replace(path(of: file), with: kept)
        } catch {
            report("events cannot be deleted from \(path(of: file)): \(error)")
        }
    }

    private static func events(of erasures: [LogErasure], in text: LogText, of file: String) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for erasure in erasures {
            guard let end = erasure.ends[file] else { continue }
            for mark in erasure.marks {
                ranges += text.events(with: mark, before: end)
            }
        }
        return ranges
    }

    private static var types: [any LogEvent.Type] { [AccessEvent.self, ErrorEvent.self, SessionTimeline.self] }

    private func path(of file: String) -> String { "\(folder.path)/\(file)" }

    private func size(of file: String) -> Int {
        var status = stat()
        guard lstat(path(of: file), &status) == 0 else { return 0 }
        return Int(status.st_size)
    }

    /// Replaces a file as a whole: after a crash it has the former text or the new one.
    private func replace(_ path: String, with bytes: [UInt8]) throws(AccessLogError) {
        let draft = path + ".new"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw AccessLogError(errno) }
        let count = Glibc.write(descriptor, bytes, bytes.count)
        let trouble = Self.trouble(written: count)
        close(descriptor)
        guard count == bytes.count else {
            unlink(draft)
            throw trouble
        }
        guard Glibc.rename(draft, path) == 0 else {
            let trouble = AccessLogError(errno)
            unlink(draft)
            throw trouble
        }
    }

    private func makeFolder() throws(AccessLogError) {
        guard mkdir(folder.path, 0o700) == 0 || errno == EEXIST else { throw AccessLogError(errno) }
    }

    private func write(_ lines: [String], after header: [String], to name: String) throws(AccessLogError) {
        let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW
        let file = open("\(folder.path)/\(name)", flags, 0o600)
        guard file >= 0 else { throw AccessLogError(errno) }
        defer { close(file) }
        let start = Self.wholeLines(file)
        guard start < folder.limit else { throw AccessLogError("\(name) has reached its maximum size") }
        var written = lines
        if start == 0 {
            written = header + lines
        }
        let text = written.map { $0 + "\n" }.joined()
        let bytes = Array(text.utf8)
        let count = Glibc.write(file, bytes, bytes.count)
        guard count != bytes.count else { return }
        let trouble = Self.trouble(written: count)
        ftruncate(file, off_t(start))
        throw trouble
    }

    /// The error after write(2) returned `count`. If it wrote too little, it sets no errno: the file system is full.
    private static func trouble(written count: Int) -> AccessLogError {
        guard count >= 0 else { return AccessLogError(errno) }
        return AccessLogError(ENOSPC)
    }

    /// Truncates a last line that a crash cut off, and returns the file's length.
    private static func wholeLines(_ file: Int32) -> Int64 {
        var status = stat()
        guard fstat(file, &status) == 0 else { return 0 }
        var end = Int64(status.st_size)
        var byte: UInt8 = 0
        while end > 0, pread(file, &byte, 1, off_t(end - 1)) == 1, byte != UInt8(ascii: "\n") {
            end -= 1
        }
        if end < Int64(status.st_size) {
            ftruncate(file, off_t(end))
        }
        return end
    }

    private func sweep(at seconds: Double) {
        let last = LogDate(seconds - Double(folder.days) * 86_400).day
        for name in names where Self.day(of: name).map({ $0 <= last }) ?? false {
            unlink("\(folder.path)/\(name)")
        }
    }

    private var names: [String] {
        guard let stream = opendir(folder.path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names
    }

    /// The day of a log file; nil for any other file.
    private static func day(of name: String) -> String? {
        guard name.hasSuffix(".log") else { return nil }
        let parts = name.dropLast(4).split(separator: "-", maxSplits: 1)
        guard parts.count == 2, types.contains(where: { $0.fileName == parts[0] }) else { return nil }
        let numbers = parts[1].split(separator: "-", omittingEmptySubsequences: false)
        let isDate =
            numbers.map(\.count) == [4, 2, 2] && numbers.joined().allSatisfy { $0.isASCII && $0.isWholeNumber }
        guard isDate else { return nil }
        return String(parts[1])
    }

    // MARK: Reading

    /// The last events that match a query, oldest first.
    func events<Event: LogEvent>(_ query: LogQuery) -> [Event] {
        let files = names.filter { $0.hasPrefix(Event.fileName + "-") && Self.day(of: $0) != nil }.sorted()
        var first = ""
        if let since = query.since {
            first = Self.name(Event.self, LogDate(since.value).day)
        }
        var found: [Event] = []
        for name in files.reversed() where name >= first && found.count < query.limit {
            found += events(in: name, query, atMost: query.limit - found.count)
        }
        return found.reversed()
    }

    /// The matching events of a file, latest first, without those of removed assets.
    private func events<Event: LogEvent>(in name: String, _ query: LogQuery, atMost limit: Int) -> [Event] {
        guard let data = try? Data(contentsOf: URL(filePath: path(of: name))) else { return [] }
        let erasures = erasures.filter { $0.ends[name] != nil }
        let bytes = erasures.isEmpty ? Array(data) : shown(data, of: name, without: erasures)
        var found: [Event] = []
        let decoder = JSONDecoder()
        for line in bytes.split(separator: UInt8(ascii: "\n")).reversed() where line.starts(with: LogText.remark.utf8) {
            guard found.count < limit else { break }
            let json = line.dropFirst(LogText.remark.utf8.count)
            if let event = try? decoder.decode(Event.self, from: Data(json)), query.matches(event) {
                found.append(event)
            }
        }
        return found
    }

    private func shown(_ data: Data, of file: String, without erasures: [LogErasure]) -> [UInt8] {
        data.withUnsafeBytes { bytes in
            let text = LogText(bytes)
            return text.without(Self.events(of: erasures, in: text, of: file))
        }
    }
}

/// The reason why a log cannot be written.
struct AccessLogError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
    /// - Parameter number: a system call's errno.
    init(_ number: Int32) { description = String(cString: strerror(number)) }
}
