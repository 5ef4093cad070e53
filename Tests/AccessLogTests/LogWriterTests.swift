import EventLoop
import Foundation
import TestSupport
import Testing

@testable import AccessLog

/// The order in which the writer hands events and removals to the files.
@Suite @LoopActor struct LogWriterTests {
    private let folder: TemporaryFolder
    /// 2026-11-21.
    private nonisolated static let today = 20_778 * 86_400.0

    init() throws { folder = try TemporaryFolder() }

    private func writer() -> LogWriter {
        let place = LogFolder(path: folder.path("log"), days: 3, software: "Weir/test", limit: 1 << 20)
        return LogWriter(to: place, date: { Self.today }, report: { _ in })
    }

    private func event(of asset: String) -> AccessEvent {
        var event = AccessEvent(
            session: "aabcde", guid: "G", number: 0, asset: asset, client: "p", began: Self.today - 1)
        event.ended = Self.today
        return event
    }

    /// The assets whose names are in the file of today.
    private func named(_ assets: [String]) throws -> [String] {
        let text = try String(contentsOfFile: folder.path("log/access-2026-11-21.log"), encoding: .utf8)
        return assets.filter { text.contains($0) }
    }

    /// Its events wait for the disk when an asset is removed, and another asset's follow.
    @Test(arguments: [false, true]) func aRemovalErasesWhatWasStillToBeWritten(_ isStop: Bool) async throws {
        let writer = writer()
        writer.write(event(of: "removed"))
        writer.erase(assetNamed: "removed", id: "removed-k3f9")
        writer.write(event(of: "other"))
        if isStop {
            await writer.close(within: .seconds(60))
        } else {
            await writer.completeErasures()
        }
        await writer.flush()
        #expect(try named(["removed", "other"]) == ["other"])
        let shown: [AccessEvent] = await writer.events(LogQuery())
        #expect(shown.map(\.asset) == ["other"])
    }

    @Test func anAskerSeesWhatWasStillToBeWritten() async throws {
        let writer = writer()
        writer.write(event(of: "film"))
        writer.rename(assetNamed: "film", to: "new-name")
        let shown: [AccessEvent] = await writer.events(LogQuery())
        #expect(shown.map(\.asset) == ["new-name"])
    }
}
