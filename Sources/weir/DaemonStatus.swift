import AccessLog
import Daemon
import Foundation
import Orders
import WeirAPI

/// The state of the daemon, as far as it answers.
struct DaemonStatus: Encodable, Sendable {
    var running: Bool
    var url: String?
    var version: String?
    var process: Int32?
    /// Time of the start, in seconds since 1970.
    var started: Int?
    /// Seconds without work after which it ends.
    var idleExit: Int?
    var mode: PlayMode?
    /// The folder of the store.
    var folder: String
    var freeBytes: Int?
    var store: API.Store?
    /// Sessions of players that have not ended.
    var playing: [SessionSummary] = []
    /// Downloads that are neither complete nor cancelled.
    var downloads: [API.Download] = []
    /// Planned recordings, the next one first.
    var recordings: [API.ScheduledRecording] = []
    /// The channel lists that are read again and again.
    var lists: [API.ChannelList] = []
    /// The reason why a running daemon does not answer.
    var error: API.Download.Failure?

    /// Asks the daemon, if one runs.
    init(of daemon: DaemonHandle) async throws {
        let state = daemon.client.state
        running = state.isServed
        folder = daemon.configuration.store
        freeBytes = Self.freeBytes(at: folder)

        guard running else { return }
        url = daemon.base
        process = state.daemonProcess
        if let record = state.daemon {
            version = record.version
            started = record.started
            idleExit = record.idleExit
        }
        do throws(APIError) {
            try await ask(daemon.client)
        } catch {
            guard error.code == .timeout else { throw error }
            self.error = .init(code: .timeout, message: "the daemon has not answered for 3 s")
        }
    }

    private mutating func ask(_ client: APIClient) async throws(APIError) {
        mode = try await client.call(Endpoints.mode).mode
        let store = try await client.call(Endpoints.store)
        self.store = store
        folder = store.path
        freeBytes = store.disk?.freeBytes ?? freeBytes
        playing = try await client.call(Endpoints.sessions).sessions.filter { $0.ended == nil }
        downloads = try await client.call(Endpoints.downloads).downloads.filter {
            $0.state != .complete && $0.state != .cancelled
        }
        let planned = try await client.plannedRecordings()
        recordings = planned.sorted { Self.isEarlier($0, than: $1) }
        lists = try await client.channelLists()
    }

    /// Recordings without a time come last.
    private static func isEarlier(_ one: API.ScheduledRecording, than other: API.ScheduledRecording) -> Bool {
        guard let begin = one.begin else { return false }
        guard let otherBegin = other.begin else { return true }
        return begin < otherBegin
    }

    /// Free bytes of the disk on which a folder is, or would be created.
    private static func freeBytes(at folder: String) -> Int? {
        var path = folder
        while path != "/", !FileManager.default.fileExists(atPath: path) {
            path = (path as NSString).deletingLastPathComponent
        }
        let values = try? FileManager.default.attributesOfFileSystem(forPath: path)
        return (values?[.systemFreeSize] as? NSNumber)?.intValue
    }
}

/// Formats the state of the daemon in at most eleven lines.
enum StatusText {
    private static let mostPlaying = 2
    private static let mostDownloads = 3

    static func table(_ status: DaemonStatus) -> TextTable {
        var rows = [daemon(status)]
        if status.running {
            if let mode = status.mode {
                rows.append(["mode", mode.rawValue])
            }
        } else {
            rows.append(["version", Application.version])
        }

        rows.append(["store", store(status)])
        if let free = status.freeBytes {
            rows.append(["free", Format.bytes(free)])
        }
        if let held = status.store?.heldBytes {
            let text = "\(Format.bytes(held)) of removed files, until the players that read them continue or end"
            rows.append(["held", text])
        }

        guard status.running, status.error == nil else { return TextTable(rows: rows) }
        rows += named("plays", status.playing.map(session), most: mostPlaying)
        rows += named("downloads", status.downloads.map(download), most: mostDownloads)
        if !status.recordings.isEmpty {
            let plans = status.recordings.map { "\($0.name)  \($0.words)" }
            rows += named("records", plans, most: mostDownloads)
        }
        if !status.lists.isEmpty {
            rows += named("lists", status.lists.map { "\($0.name)  \($0.words)" }, most: mostDownloads)
        }
        if status.recordings.contains(where: { $0.begin != nil }) {
            rows.append(["ends", "not while a recording is planned"])
        } else if let idleExit = status.idleExit {
            rows.append(["ends", "after \(TimeSpan.text(Int64(idleExit))) without work"])
        }
        return TextTable(rows: rows)
    }

    private static func daemon(_ status: DaemonStatus) -> [String] {
        guard status.running else { return ["daemon", "does not run; a command that needs it starts it"] }
        var words = ["runs at \(status.url ?? "–")"]
        if let version = status.version {
            words.append("version \(version)")
        }
        if let process = status.process {
            words.append("process \(process)")
        }
        if let started = status.started {
            words.append("since \(TimeText.words(started))")
        }
        return ["daemon", words.joined(separator: ", ")]
    }

    private static func store(_ status: DaemonStatus) -> String {
        guard let store = status.store else { return status.folder }
        let text = "\(store.path): \(Format.count(store.assets, "asset")), \(Format.bytes(store.bytes))"
        guard let problem = store.problem else { return text }
        return "\(text), read-only: \(problem)"
    }

    /// Rows under one heading; what is too much for it is counted.
    private static func named(_ heading: String, _ texts: [String], most: Int) -> [[String]] {
        guard !texts.isEmpty else { return [[heading, "nothing"]] }
        var shown = Array(texts.prefix(most))
        if texts.count > most {
            shown[most - 1] += ", and \(texts.count - most) more"
        }
        var rows = shown.map { ["", $0] }
        rows[0][0] = heading
        return rows
    }

    private static func session(_ session: SessionSummary) -> String {
        var words = [session.asset]
        if let quality = session.qualityWords {
            words.append(quality)
        }
        words.append("at \(Format.clock(session.playhead))")
        if let client = session.client {
            words.append("in \(client.prefix { $0 != " " })")
        }
        if session.isStalled == true {
            words.append("stalled")
        }
        return words.joined(separator: "  ")
    }

    private static func download(_ download: API.Download) -> String {
        "\(download.asset)  \(ProgressLine(download: download).plain)"
    }
}
