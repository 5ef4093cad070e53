import Foundation
import Orders
import SafeText
import TestSupport
import Testing
import WeirAPI

@testable import Daemon
@testable import weir

/// The lines of `--json` that are no shapes of the API, as in `fixtures/golden/lines`.
@Suite struct GoldenLineTests {
    private static let failure = CommandFailure(
        [Shortfall(.missing, "the sound was not found (404); the other tracks are downloaded")],
        next: "weir get sintel, to try what was selected again")

    private static var download: API.Download {
        sampleDownload.with {
            $0.arriving = 2048
            $0.silence = 11
            $0.need = .network
            $0.reasons = [Reason(.network, "the origin does not answer")]
            $0.summary = API.Download.Summary(
                began: 1, ended: 2, seconds: 0.5, bytes: 3, requests: 4, retries: 5, interruptions: 6)
        }
    }

    private static let selected = API.Download.Selected(
        renditions: [.init(id: "video-720p", weight: 0.7, fraction: 0.5)],
        range: MediaRange(start: 600, end: nil), fraction: 0.5, isComplete: false)

    /// The lines about downloads, jobs, checks, settings and the machine, by the names of their files.
    private static var lines: [String: String] {
        var verification = API.Verification(asset: "sintel", state: .running)
        verification.isRepairing = true
        var publication = API.Publication(asset: "sintel", state: .running)
        publication.totalFiles = 7
        let move = API.Move(asset: "sintel", state: .complete)
        let doctor = DoctorCommand.records(
            Doctor.Report(findings: [.fault("store", "it cannot be written", next: "chmod 700 FOLDER")]))
        var export = API.Export(name: "sintel", path: "/tmp/sintel.mp4", format: .mp4, bytes: 7)
        export.shortfalls = [Shortfall(.container, "subtitles-en is left out")]
        let exported = try? API.encode(ExportResult(export: export, reasons: [.container]))

        return [
            "get-progress": DownloadRecord.progress(download),
            "get-selection-resolved": DownloadRecord.selection("selection-resolved", selected, of: download),
            "get-selections-further": DownloadRecord.further(download.selection, of: download),
            "get-result": DownloadRecord.result(download, url: "http://localhost/sintel.m3u8", failure: failure),
            "verify-progress": VerificationText.progress(verification),
            "publish-progress": PublicationText.progress(publication),
            "move-progress": MoveText.progress(move),
            "move-result": MoveText.result(move, failure),
            "failure-result": JSONLine.result(of: failure),
            "config-key": ConfigShowCommand.record(.init(name: "store", value: "\"/srv\"", source: "default")),
            "doctor-finding": doctor[0],
            "doctor-result": doctor[1],
            "export-result": String(decoding: exported ?? [], as: UTF8.self),
        ]
    }

    /// The lines about a playlist that is not as it should be.
    private static var checks: [String: String] {
        get async throws {
            let folder = try TemporaryFolder()
            let file = try folder.write(Data("#EXTM3U\n#EXTINF:1,\na.ts\n".utf8), to: "a.m3u8")
            let lines = CheckRecord.lines(await CheckResult.ofFile(file)).map {
                $0.replacing(folder.path, with: "FOLDER")
            }
            return ["check-diagnostic": try #require(lines.first), "check-result": try #require(lines.last)]
        }
    }

    /// The lines of `weir events --json`, made of the data in `fixtures/golden/events`.
    private static var events: [String: String] {
        get throws {
            let folder = Repository.path("fixtures/golden/events")
            var lines: [String: String] = [:]
            for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + file))
                let name = String(file.dropLast(".json".count))
                let event = try #require(try API.Event(name: name, data: Array(data)), "\(name)")
                lines["events-" + name] = EventText.json(event)
            }
            return lines
        }
    }

    @Test func theLinesAreAsInTheirFiles() async throws {
        let all = Self.lines.merging(try Self.events) { $1 }.merging(try await Self.checks) { $1 }
        // The order of the keys is a part of a line, so it is kept.
        let texts = all.map { ($0.key + ".json", $0.value + "\n") }
        #expect(try GoldenFiles("lines").differences(from: Dictionary(uniqueKeysWithValues: texts)) == [])
    }

    /// Whoever writes a line of a new kind adds it here, and to the lines above.
    @Test func everyKindOfLineIsAmongThem() throws {
        let folder = Repository.path("Sources/weir")
        var found: Set<String> = []
        for file in try FileManager.default.subpathsOfDirectory(atPath: folder) where file.hasSuffix(".swift") {
            let source = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
            let name = file.split(separator: "/").last?.dropLast(6) ?? ""
            for match in source.matches(of: /JSONLine\((.+?)\)/) {
                found.insert("\(name) \(match.1)")
            }
        }
        #expect(
            found == [
                "CheckCommand \"diagnostic\"", "CheckCommand \"result\"", "ConfigCommand \"key\"",
                "DoctorCommand \"finding\"", "DoctorCommand \"result\"", "EventsCommand event.name",
                "JSONLine \"progress\"", "JSONLine kind", "JSONLine \"selections-further\"", "JSONLine \"result\"",
                "JobText \"progress\"", "JobText \"result\"",
            ])
    }
}
