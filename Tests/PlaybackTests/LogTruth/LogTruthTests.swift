import AccessLog
import EventLoop
import Foundation
import Sessions
import TestRooms
import TestSupport
import Testing

@testable import Playback

/// Compares scripted player actions with the logs and the key performance indicators.
@Suite @LoopActor struct LogTruthTests {
    @Test(arguments: SessionScript.playing + SessionScript.sources + SessionScript.oddities)
    func logsAndIndicatorsAgreeWithTheScript(script: SessionScript) async throws {
        let stage = try await ScriptedStage(script)
        let start = stage.clock.exactDate
        for step in script.steps {
            try await step.perform(stage)
        }
        let sessions = stage.fixture.playback.sessions
        await sessions.close()
        let events = await sessions.accessEvents(LogQuery())
        let log = try ExtendedLog(stage.fixture.logLines("access"))
        try #require(events.count == script.lines.count && log.entries.count == events.count, "\(events)")

        let truth = Truth(script, on: stage, since: start)
        var names: [Int: String] = [:]
        for index in Set(script.lines.map(\.player)) {
            names[index] = try await stage.session(of: index)
        }
        for (index, session) in names {
            let own = events.indices.filter { events[$0].session == session }
            let lines = script.lines.filter { $0.player == index }
            try #require(own.count == lines.count)
            for (line, place) in zip(lines, own) {
                try truth.check(events[place], line)
                try truth.check(log.entries[place], line)
            }
        }
        try truth.check(KPIs(events))
        await truth.check(sessions.errorEvents(LogQuery()))
    }
}

/// The expectations of a script, to compare with the log.
@LoopActor private struct Truth {
    let script: SessionScript
    let stage: ScriptedStage
    let start: Double

    init(_ script: SessionScript, on stage: ScriptedStage, since start: Double) {
        self.script = script
        self.stage = stage
        self.start = start
    }

    private var show: Show { script.show }

    private func isNear(_ found: Double?, _ expected: Double?) -> Bool {
        guard let found, let expected else { return (found == nil) == (expected == nil) }
        return abs(found - expected) <= script.slack
    }

    private func uri(_ line: SessionScript.Line) -> String? {
        line.rendition.map { stage.fixture.origin.url(show.playlist(of: $0)) }
    }

    private func bytes(_ line: SessionScript.Line) throws -> (origin: Int, joined: Int, store: Int) {
        try (show.bytes(line.origin) + line.partial, show.bytes(line.joined), show.bytes(line.store))
    }

    func check(_ event: AccessEvent, _ line: SessionScript.Line) throws {
        #expect(event.uri == uri(line) && event.indicated == line.rendition.flatMap(show.bandwidth(of:)))
        #expect(event.playbackType == line.type && event.asset == show.name)
        #expect(event.client == "player/\(line.player)")
        #expect(event.requests == line.requests && event.stalls == line.stalls.count && event.overdue == line.overdue)
        let bytes = try bytes(line)
        #expect(event.bytes.origin == bytes.origin)
        #expect(event.bytes.joined == bytes.joined)
        #expect(event.bytes.store == bytes.store)
        #expect(abs(event.downloaded - line.downloaded) < 0.05 && event.startOffset == line.start)
        #expect(isNear(event.watched, line.watched), "watched \(event.watched)")
        #expect(isNear(event.stallTime, line.stalls.reduce(0, +)), "stalled \(event.stallTime)")
        #expect(isNear(event.startup, line.startup), "started after \(event.startup ?? -1)")
        if let ended = line.ended {
            #expect(isNear(event.ended, start + ended), "\((event.ended ?? 0) - start)")
        }
        #expect(Set(event.inferred) == Set(AccessEvent.inferable).subtracting(line.told))
    }

    func check(_ entry: [String: String], _ line: SessionScript.Line) throws {
        let number = { (field: String) in entry[field].flatMap { Double($0) } }
        #expect(entry["uri"] == uri(line) && entry["s-playback-type"] == line.type.rawValue)
        #expect(entry["sc-count"] == "\(line.requests)" && entry["c-stalls"] == "\(line.stalls.count)")
        let bytes = try bytes(line)
        #expect(entry["bytes"] == "\(bytes.origin + bytes.joined + bytes.store)")
        #expect(entry["sc-indicated-bitrate"] == (line.rendition.flatMap(show.bandwidth(of:)).map { "\($0)" } ?? "-"))
        #expect(number("c-start-time") == line.start && entry["c-overdue"] == "\(line.overdue)")
        #expect(isNear(number("c-duration-watched"), line.watched))
        #expect(isNear(number("c-startup-time"), line.startup))
        #expect(entry["date"] == "2026-11-21")
    }

    // MARK: Totals

    func check(_ kpis: KPIs) throws {
        let lines = script.lines
        let watched = lines.reduce(0) { $0 + $1.watched }
        let stalls = lines.flatMap(\.stalls)
        #expect(kpis.stalls == stalls.count && kpis.switches == script.switches)
        let slack = script.slack * Double(lines.count)
        #expect(abs(kpis.watched - watched) <= slack && abs(kpis.stallTime - stalls.reduce(0, +)) <= slack)
        let ratio = stalls.reduce(0, +) / (watched + stalls.reduce(0, +))
        #expect(abs((kpis.stallRatio ?? 0) - ratio) <= slack / watched)
        let rated = lines.filter { $0.rendition.flatMap(show.bandwidth(of:)) != nil }
        let weighted = rated.reduce(0) { $0 + $1.watched * Double($1.rendition.flatMap(show.bandwidth(of:)) ?? 0) }
        let indicated = weighted / rated.reduce(0) { $0 + $1.watched }
        if rated.isEmpty {
            #expect(kpis.indicated == nil)
        } else {
            #expect(abs((kpis.indicated ?? 0) - indicated) <= indicated * slack / watched)
        }
        let sent = try lines.map(bytes)
        let all = sent.reduce(0) { $0 + $1.origin + $1.joined + $1.store }
        #expect(kpis.bytes == Int64(all))
        #expect(kpis.storeShare == Double(sent.reduce(0) { $0 + $1.store }) / Double(all))
        #expect((kpis.observed == nil) == (stage.observedRate == nil))
        if let observed = kpis.observed, let rate = stage.observedRate {
            #expect(abs(observed / rate - 1) < 1e-6)
        }
    }

    func check(_ events: [ErrorEvent]) {
        let found = events.map {
            SessionScript.Trouble(status: $0.status, domain: $0.domain, time: ($0.time - start).rounded())
        }
        #expect(found == script.errors)
        #expect(events.allSatisfy { $0.asset == show.name && $0.guid != nil && $0.uri != nil })
    }
}
