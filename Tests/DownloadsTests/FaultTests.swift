import Assets
import EventLoop
import Foundation
import HTTPMessage
import Orders
import Origin
import TestRooms
import TestSupport
import Testing

@testable import Downloads

/// Every fault of an origin with every kind of resource. A download either recovers and is exact, or reports the fault
/// and the resource. It is never complete with a hole, stores no wrong bytes, and resumes once the fault is gone.
@Suite @LoopActor struct FaultTests {
    /// A house with a short retry budget, which looks at an absent origin again by itself, as Weir does.
    private func house() async throws -> TestHouse {
        try await TestHouse(
            .giveUpRule { rule in
                rule.firstByteLimit = .milliseconds(600)
                rule.stallSpan = .milliseconds(200)
                rule.stallBytes = 1
                rule.playlistDeadline = .seconds(2)
                rule.silenceAtEnd = .milliseconds(200)
                rule.retries.attempts = 1
                rule.retries.firstPause = .milliseconds(5)
                rule.retries.longestPause = .milliseconds(10)
            },
            .absence(.milliseconds(1)),
            .downloader { $0.pauses = .milliseconds(5)...(.milliseconds(10)) })
    }

    /// The pieces by their paths in the bundle.
    /// - Parameter folders: the folders of the bundle to look at; nil for all.
    private func pieces(of house: TestHouse, in folders: Set<String>? = nil) throws -> [String: Data] {
        let paths = house.folder.files().filter { path in
            path.hasPrefix("assets/") && ![".m3u8", ".json", "/SHA256SUMS"].contains(where: path.hasSuffix)
        }
        return try paths.reduce(into: [:]) { pieces, path in
            let place = path.split(separator: "/").dropFirst(2).joined(separator: "/")
            if let folders, !folders.contains(Self.folder(place)) {
                return
            }
            pieces[place] = try Data(contentsOf: URL(fileURLWithPath: house.folder.path(path)))
        }
    }

    /// The outcome of a download: nil if complete in the selected quality, else the message.
    private func attempt(_ house: TestHouse, _ fixture: String, isPatient: Bool) async throws -> String? {
        let download: Download
        do {
            let asset = try await house.library.open(WebURL(house.origin.master(fixture)))
            let selection = Selection(quality: .worst, subtitles: .all)
            download = try await house.downloader.start(asset, DownloadOrder(selection))
        } catch let error as Downloader.Refusal {
            guard case .library(let error) = error else { return "\(error)" }
            return error.message
        } catch let error as LibraryError {
            return error.message
        }
        try await waitUntil("an end", within: .seconds(60)) {
            switch download.state {
            case .complete, .failed: true
            case .waiting: !isPatient
            default: false
            }
        }
        let message =
            download.state == .complete ? download.shortfall?.message : download.failure?.message ?? "no reason"
        // A download that retries by itself would be joined by the next attempt, and could be about to fail.
        await house.downloader.pause(download)
        return message
    }

    nonisolated private static func folder(_ place: String) -> String { String(place.prefix { $0 != "/" }) }

    private func reference(_ fixture: String) async throws -> [String: Data] {
        let house = try await house()
        #expect(try await attempt(house, fixture, isPatient: true) == nil)
        return try pieces(of: house)
    }

    /// The faults wait for the limits of the client, so several have their turn at once.
    @Test(
        "a download recovers from each fault of its origin, or reports it", .namingCases,
        arguments: Fault.Target.allCases)
    func recoversOrReports(_ target: Fault.Target) async throws {
        let expected = try await reference(target.fixture)
        let cases = Fault.all.filter { $0.concerns(target) }.flatMap { [($0, true), ($0, false)] }
        await sideBySide(cases) { fault, isOnce in
            try await expectRecoveryOrReport(of: fault, isOnce: isOnce, at: target, expected)
        }
    }

    private func expectRecoveryOrReport(
        of fault: Fault, isOnce: Bool, at target: Fault.Target, _ expected: [String: Data]
    ) async throws {
        let house = try await house()
        for rule in fault.rules(target, isOnce: isOnce) {
            try await house.origin.add(rule)
        }
        // Another quality replaces the one whose playlist or segments the origin refuses; the pieces of the selected one count
        // here.
        let folders = Set(expected.keys.map(Self.folder))
        let what: Comment = "\(target.rawValue): \(fault) \(isOnce ? "once" : "for ever")"
        let isPatient = isOnce || fault.isHarmless(target)
        let message = try await attempt(house, target.fixture, isPatient: isPatient)
        if let message {
            #expect(!(isOnce ? fault.passes(target) : fault.isHarmless(target)), "\(what): \(message)")
            #expect(message.contains(target.path), "\(what): \(message)")
            #expect(try pieces(of: house, in: folders).allSatisfy { expected[$0] == $1 }, what)
            try await house.origin.clearRules()
            let again = try await attempt(house, target.fixture, isPatient: true)
            #expect(again == nil, "\(what): \(again ?? "")")
        } else {
            #expect(isPatient, what)
        }
        #expect(try pieces(of: house, in: folders) == expected, what)
    }
}
