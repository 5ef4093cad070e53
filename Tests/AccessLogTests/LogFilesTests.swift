import Foundation
import SafeText
import Synchronization
import TestSupport
import Testing

@testable import AccessLog

@Suite struct LogFilesTests {
    private let folder: TemporaryFolder
    private let said = Said()

    private final class Said: Sendable {
        private let all = Mutex<[String]>([])
        var lines: [String] { all.withLock { $0 } }
        func add(_ line: String) { all.withLock { $0.append(line) } }
    }

    private static let day = 86_400.0
    /// 2026-11-21.
    private static let today = 20_778 * day

    init() throws { folder = try TemporaryFolder() }

    private func files(days: Int = 3, limit: Int64 = 1 << 20, in name: String = "log") -> LogFiles {
        let place = LogFolder(path: folder.path(name), days: days, software: "Weir/test", limit: limit)
        return LogFiles(place) { [said] in said.add($0) }
    }

    private func event(_ number: Int, asset: String = "film", at seconds: Double = today) -> AccessEvent {
        var event = AccessEvent(
            session: "aabcde", guid: "G", number: number, asset: asset, client: "p", began: seconds - 1)
        event.ended = seconds
        return event
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: folder.path("log/" + name), encoding: .utf8)
    }

    private var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path("log"))) ?? []).sorted()
    }

    @Test func s29ErasesTheEventsOfARemovedAsset() async throws {
        let files = files()
        await files.append([event(0), event(1, asset: "other")], at: Self.today)
        await files.append([event(2)], at: Self.today + Self.day)
        var failure = ErrorEvent(time: Self.today, uri: "/a/film-k3f9/x", status: 404, domain: .player, comment: "no")
        await files.append([failure], at: Self.today)
        failure.uri = "/a/other-k3f9/x"
        await files.append([failure], at: Self.today)
        await files.erase(assetNamed: "film", id: "film-k3f9")
        // Not shown from now on, although the bytes are still there; a later event is of another asset.
        #expect(await files.events(LogQuery()) == [event(1, asset: "other")])
        #expect(await files.events(LogQuery()) == [failure])
        #expect(try names.filter { $0.hasSuffix(".log") }.allSatisfy { try text($0).contains("film") })
        let next = self.files()
        await next.append([event(7)], at: Self.today + 2 * Self.day)
        await next.erase(assetNamed: "nobody", id: "nobody-aaaa")
        #expect(await next.events(LogQuery()) == [event(1, asset: "other"), event(7)])
        await next.completeErasures()
        #expect(await next.events(LogQuery()) == [event(1, asset: "other"), event(7)])
        try FileManager.default.removeItem(atPath: folder.path("log/access-2026-11-23.log"))
        #expect(await next.events(LogQuery()) == [event(1, asset: "other")])
        for name in names {
            let log = try text(name)
            #expect(!log.contains("film") && log.hasPrefix("#Version: 1.0\n"))
            let parsed = try ExtendedLog(log.split(separator: "\n").map(String.init))
            #expect(parsed.directives.filter { $0.name == "Remark" }.count == parsed.entries.count)
        }
        #expect(names.count == 3 && said.lines.isEmpty)
    }

    @Test func theEventsOfARenamedAssetHaveItsNewName() async throws {
        let files = files()
        await files.append([event(0), event(1, asset: "film-2")], at: Self.today)
        await files.append([event(2)], at: Self.today + Self.day)
        await files.keep([session("A")])
        await files.rename(assetNamed: "film", to: "sintel")
        let renamed = [event(0, asset: "sintel"), event(2, asset: "sintel")]
        #expect(await files.events(LogQuery(asset: "sintel")) == renamed)
        #expect(await files.events(LogQuery(asset: "film-2")) == [event(1, asset: "film-2")])
        let left: [AccessEvent] = await files.events(LogQuery(asset: "film"))
        #expect(left.isEmpty)
        await files.recover(at: Self.today)
        let sessions: [SessionTimeline] = await files.events(LogQuery())
        #expect(sessions.map(\.asset) == ["sintel"] && said.lines.isEmpty)
    }

    /// An asset with a removed one's name gets none of its events.
    @Test func aRenamedAssetDoesNotGetTheEventsOfARemovedOne() async throws {
        let files = files()
        await files.append([event(0, asset: "sintel"), event(1)], at: Self.today)
        await files.erase(assetNamed: "sintel", id: "sintel-k3f9")
        await files.rename(assetNamed: "film", to: "sintel")
        #expect(await files.events(LogQuery(asset: "sintel")) == [event(1, asset: "sintel")])
    }

    private func session(_ guid: String, asset: String = "film", length: Double = 60) -> SessionTimeline {
        SessionTimeline(
            session: "a\(guid)", guid: guid, asset: asset, client: "p", began: Self.today, length: length)
    }

    @Test func theSessionsOfAKilledDaemonAreLoggedOnce() async {
        await files().keep([session("A", length: 3), session("B")])
        await files().keep([session("A"), session("B")])
        var ended = session("B", length: 70)
        ended.ended = Self.today + 70
        // One of them has ended in order, after the last copy.
        await files().append([ended], at: Self.today + 70)
        #expect(names == ["sessions-2026-11-21.log", "sessions-running.log"])
        let next = files()
        #expect(await next.events(LogQuery()) == [ended], "the copy is not the log")
        for _ in 0..<2 {
            await next.recover(at: Self.today + 100)
            var killed = session("A")
            killed.ended = Self.today + 60
            #expect(await next.events(LogQuery()) == [ended, killed])
            #expect(names == ["sessions-2026-11-21.log"])
        }
        await next.keep([session("C")])
        await next.keep([])
        #expect(names == ["sessions-2026-11-21.log"] && said.lines.isEmpty)
        await files(days: 0).keep([session("D")])
        #expect(names == ["sessions-2026-11-21.log"])
    }

    @Test func s29ErasesARunningSessionOfARemovedAsset() async {
        let files = files()
        await files.keep([session("A"), session("B", asset: "other")])
        await files.erase(assetNamed: "film", id: "film-k3f9")
        await files.recover(at: Self.today)
        let left: [SessionTimeline] = await files.events(LogQuery())
        #expect(left.map(\.guid) == ["B"] && said.lines.isEmpty)
    }

    @Test func eventsRoundTripAndTheFileIsAStrictLog() async throws {
        let files = files()
        await files.append([event(0), event(1, asset: "other")], at: Self.today)
        await files.append([event(2)], at: Self.today + Self.day)
        var failure = ErrorEvent(time: Self.today, uri: nil, status: 404, domain: .player, comment: "no \"such\" thing")
        failure.asset = "film"
        await files.append([failure], at: Self.today)
        #expect(names == ["access-2026-11-21.log", "access-2026-11-22.log", "errors-2026-11-21.log"])
        for name in names {
            let log = try ExtendedLog(text(name).split(separator: "\n").map(String.init))
            #expect(log.directives.filter { $0.name == "Remark" }.count == log.entries.count)
        }
        #expect(await files.events(LogQuery()) == [event(0), event(1, asset: "other"), event(2)])
        #expect(await files.events(LogQuery(asset: "film")) == [event(0), event(2)])
        #expect(await files.events(LogQuery(limit: 2)) == [event(1, asset: "other"), event(2)])
        #expect(await files.events(LogQuery(since: Moment(clamping: Self.today + 1))) as [AccessEvent] == [])
        #expect(await files.events(LogQuery()) == [failure])
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("log/" + names[0]))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func anotherProcessContinuesAfterALineCutByACrash() async throws {
        await files().append([event(0)], at: Self.today)
        let whole = try text("access-2026-11-21.log")
        try Data((whole + "#Remark: {\"ass").utf8).write(to: URL(fileURLWithPath: folder.path("log/" + names[0])))
        let files = files()
        await files.append([event(1)], at: Self.today)
        let after = try text("access-2026-11-21.log")
        #expect(after.hasPrefix(whole) && !after.contains("{\"ass\n"))
        #expect(after.components(separatedBy: "#Fields").count == 2)
        _ = try ExtendedLog(after.split(separator: "\n").map(String.init))
        #expect(await files.events(LogQuery()) == [event(0), event(1)])
    }

    @Test func onlyFilesOfOldDaysAreDeleted() async throws {
        let files = files(days: 2)
        for day in 0..<3 {
            await files.append([event(day)], at: Self.today + Double(day) * Self.day)
        }
        for name in ["access-yesterday.log", "access-2020-01-01.txt", "other-2020-01-01.log"] {
            try folder.write(Data(), to: "log/" + name)
        }
        await files.append([event(9)], at: Self.today + 3 * Self.day)
        #expect(
            names == [
                "access-2020-01-01.txt", "access-2026-11-23.log", "access-2026-11-24.log", "access-yesterday.log",
                "other-2020-01-01.log",
            ])
        #expect(await files.events(LogQuery()) == [event(2), event(9)])
    }

    @Test func anUncreatableFolderIsReportedOnce() async throws {
        try folder.write(Data(), to: "log")
        let files = files()
        for number in 0..<3 {
            await files.append([event(number)], at: Self.today)
        }
        #expect(said.lines.count == 1 && said.lines[0].contains(folder.path("log")))
        try FileManager.default.removeItem(atPath: folder.path("log"))
        await files.append([event(3)], at: Self.today)
        #expect(await files.events(LogQuery()) == [event(3)])
        #expect(said.lines.count == 1)
    }

    @Test func aFileIsLimitedInSize() async throws {
        let files = files(limit: 2000)
        for number in 0..<20 {
            await files.append([event(number)], at: Self.today)
        }
        #expect(try text("access-2026-11-21.log").utf8.count < 4000)
        #expect(said.lines.count == 1)
    }

    @Test func zeroDaysKeepNoFiles() async throws {
        let files = files(days: 0)
        await files.append([event(0)], at: Self.today)
        #expect(names.isEmpty && said.lines.isEmpty)
    }

    @Test func invalidLinesAreSkipped() async throws {
        let files = files()
        await files.append([event(0)], at: Self.today)
        let path = folder.path("log/" + names[0])
        let text = try text(names[0]) + "#Remark: {}\n#Remark: [1\n#Remark: \n\u{0}\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        #expect(await files.events(LogQuery()) == [event(0)])
    }
}
