import Assets
import EventLoop
import Integrity
import Orders
import Store
import TestRooms
import TestSupport
import Testing

@testable import Downloads

/// Downloads from the origin of a house.
extension TestHouse {
    /// Starts a download, by default of the worst variant, which is the smallest.
    @discardableResult func start(
        _ path: String, _ selection: Selection = Selection(quality: .worst)
    ) async throws -> Download {
        try await downloader.start(open(path), DownloadOrder(selection))
    }

    /// The current download of the asset.
    func download(_ name: String) throws -> Download {
        try #require(library.asset(named: name).flatMap { downloader.download(of: $0) })
    }

    /// Waits until the download is in that state.
    func reaches(_ state: JobState, _ name: String) async throws {
        try await waitUntil("the state \(state) of \(name)", within: .seconds(30)) {
            try download(name).state == state
        }
    }

    /// Waits until the catalogue stores the one download in that state.
    func notes(_ state: JobState) async throws {
        try await waitUntil("\(state) in the catalogue") {
            let copy = try await folder.copy()
            return try BundleStore(path: copy.path).catalogue.initial.downloads.map(\.state) == [state.rawValue]
        }
    }

    /// Another verifier of the same assets, with its own clock.
    func integrity(bytesPerSecond: Int64 = 0, now: @escaping () -> Int64) -> IntegrityService {
        let integrity = IntegrityService(of: library, retention, bytesPerSecond: bytesPerSecond, now: now)
        integrity.attach(downloader)
        return integrity
    }
}
