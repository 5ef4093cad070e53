import EventLoop
import Foundation
import HTTPMessage
import Integrity
import Library
import Origin
import Retention
import Store
import TestSupport
import Testing

@testable import Downloader

/// Every fault of an origin with every kind of resource. A download either recovers and is exact, or reports the fault
/// and the resource. It is never complete with a hole, stores no wrong bytes, and resumes once the fault is gone.
@Suite @LoopActor struct FaultTests {
    /// A downloader with a short retry budget and its own store.
    private struct Bench {
        let folder: TemporaryFolder
        let client: OriginClient
        let library: Library
        let downloader: Downloader

        @LoopActor init() throws {
            folder = try TemporaryFolder()
            var limits = OriginClient.Configuration()
            (limits.giveUpRule.firstByteLimit, limits.giveUpRule.stallSpan, limits.giveUpRule.stallBytes) = (
                .milliseconds(600), .milliseconds(200), 1
            )
            (limits.giveUpRule.playlistDeadline, limits.giveUpRule.silenceAtEnd) = (.seconds(2), .milliseconds(200))
            limits.giveUpRule.retries.attempts = 1
            (limits.giveUpRule.retries.firstPause, limits.giveUpRule.retries.longestPause) = (
                .milliseconds(5), .milliseconds(10)
            )
            limits.giveUpRule.absencePauses = .milliseconds(1)...(.milliseconds(1))
            client = OriginClient(configuration: limits)
            library = Library(store: try Store(path: folder.path, reserve: 0), client: client)
            var configuration = Downloader.Configuration()
            configuration.pauses = .milliseconds(5)...(.milliseconds(10))
            let retention = Retention(of: library)
            downloader = Downloader(
                library: library, retention: retention, integrity: Integrity(of: library, retention),
                configuration: configuration)
        }

        /// The pieces by their paths in the bundle.
        /// - Parameter folders: the folders of the bundle to look at; nil for all.
        func pieces(in folders: Set<String>? = nil) throws -> [String: Data] {
            let paths = folder.files().filter { path in
                path.hasPrefix("assets/") && ![".m3u8", ".json", "/SHA256SUMS"].contains(where: path.hasSuffix)
            }
            return try paths.reduce(into: [:]) { pieces, path in
                let place = path.split(separator: "/").dropFirst(2).joined(separator: "/")
                if let folders, !folders.contains(FaultTests.folder(place)) { return }
                pieces[place] = try Data(contentsOf: URL(fileURLWithPath: folder.path(path)))
            }
        }

        @LoopActor func stop() {
            downloader.stop()
            client.stop()
        }
    }

    /// The outcome of a download: nil if complete in the selected quality, else the message.
    private func attempt(_ bench: Bench, _ url: String, isPatient: Bool) async throws -> String? {
        let download: Download
        do {
            let asset = try await bench.library.open(WebURL(url))
            let selection = Selection(quality: .worst, subtitles: .all)
            download = try await bench.downloader.start(asset, DownloadOrder(selection))
        } catch let error as Downloader.Refusal {
            guard case .library(let error) = error else { return "\(error)" }
            return error.message
        } catch let error as LibraryError {
            return error.message
        }
        try await waitUntil("an end", within: .seconds(20)) {
            switch download.state {
            case .complete, .failed: true
            case .waiting: !isPatient
            default: false
            }
        }
        let message = download.state == .complete ? download.otherQuality : download.failure?.message ?? "no reason"
        // A download that retries by itself would be joined by the next attempt, and could be about to fail.
        await bench.downloader.pause(download)
        return message
    }

    nonisolated private static func folder(_ place: String) -> String { String(place.prefix { $0 != "/" }) }

    private func reference(_ url: String) async throws -> [String: Data] {
        let bench = try Bench()
        #expect(try await attempt(bench, url, isPatient: true) == nil)
        bench.stop()
        return try bench.pieces()
    }

    /// The faults wait for the limits of the client, so several have their turn at once.
    @Test(.namingCases, arguments: Fault.Target.allCases)
    func recoversOrReports(_ target: Fault.Target) async throws {
        let plain = try await TestOrigin()
        let expected = try await reference(plain.master(target.fixture))
        let cases = Fault.all.filter { $0.concerns(target) }.flatMap { [($0, true), ($0, false)] }
        await sideBySide(cases) { fault, isOnce in
            try await expectRecoveryOrReport(of: fault, isOnce: isOnce, at: target, expected)
        }
    }

    private func expectRecoveryOrReport(
        of fault: Fault, isOnce: Bool, at target: Fault.Target, _ expected: [String: Data]
    ) async throws {
        let origin = try await TestOrigin()
        let url = origin.master(target.fixture)
        for rule in fault.rules(target, isOnce: isOnce) { try await origin.add(rule) }
        // Another quality replaces the one whose playlist or segments the origin refuses; the pieces of the selected one count
        // here.
        let folders = Set(expected.keys.map(Self.folder))
        let bench = try Bench()
        let what: Comment = "\(target.rawValue): \(fault) \(isOnce ? "once" : "for ever")"
        let message = try await attempt(bench, url, isPatient: isOnce || fault.isHarmless(target))
        if let message {
            #expect(!(isOnce ? fault.passes(target) : fault.isHarmless(target)), "\(what): \(message)")
            #expect(message.contains(target.path), "\(what): \(message)")
            #expect(try bench.pieces(in: folders).allSatisfy { expected[$0] == $1 }, what)
            try await origin.clearRules()
            let again = try await attempt(bench, url, isPatient: true)
            #expect(again == nil, "\(what): \(again ?? "")")
        } else {
            #expect(isOnce || fault.isHarmless(target), what)
        }
        #expect(try bench.pieces(in: folders) == expected, what)
        bench.stop()
    }
}
