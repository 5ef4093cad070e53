package import Assets
import EventLoop
package import Fetching
import HLS
package import HTTPMessage
import Store
import TestSupport
import Testing

/// Assets of the origin, and fetches of their pieces.
extension TestHouse {
    package func url(_ path: String) throws -> WebURL { try WebURL(origin.url(path)) }

    package func open(_ path: String) async throws -> Asset { try await library.open(url(path)) }

    /// The rendition, with its playlist loaded.
    package func rendition(_ id: String, of asset: Asset) async throws -> Rendition {
        let rendition = try #require(asset.rendition(id))
        _ = try await library.playlists.source(of: rendition, in: asset)
        return rendition
    }

    /// The resource of segment number `number`.
    package func resource(_ number: Int, of rendition: Rendition) throws -> Resource {
        let segments = try #require(rendition.source?.playlist.segments)
        let segment = try #require(segments.first { Int($0.mediaSequenceNumber) == number })
        return try #require(rendition.resource(of: segment))
    }

    /// The fetch of segment number `number`.
    package func fetch(
        _ number: Int, of rendition: Rendition, in asset: Asset, urgency: Fetch.Urgency = .playback
    ) throws -> Fetch {
        try library.fetch(resource(number, of: rendition), in: rendition.folder, of: asset, urgency: urgency)
    }

    /// Fetches every resource of the rendition.
    package func fetch(_ id: String, of asset: Asset) async throws {
        let rendition = try await rendition(id, of: asset)
        let playlist = try #require(rendition.source?.playlist)
        let segments = playlist.segments.compactMap { rendition.resource(of: $0) }.map { (rendition.folder, $0) }
        for (folder, resource) in rendition.preliminaries + segments {
            let fetch = try library.fetch(resource, in: folder, of: asset, urgency: .background)
            try await fetch.end()
            fetch.release()
        }
    }

    /// Waits until all received pieces are synced and have their ledger lines.
    package func flush() async { await library.store.flush() }

    /// The requested paths with their ranges, without playlists and without comparisons.
    package func mediaRequests() async throws -> [String] {
        try await requestsForMedia().map { request in request.path + (request.range.map { " \($0)" } ?? "") }
    }

    /// The requested paths, whatever their ranges, without playlists and without comparisons.
    package func mediaPaths() async throws -> [String] {
        try await requestsForMedia().map(\.path)
    }

    private func requestsForMedia() async throws -> [TestOrigin.Request] {
        try await origin.requests().filter { !$0.path.contains(".m3u8") && !$0.isComparison }
    }
}

extension Fetch {
    /// Waits for the end; throws the fetch's error.
    package func end() async throws { try await result().get() }

    /// The outcome; nil before the end.
    package func result() async -> Result<Void, FetchError> {
        await withCheckedContinuation { continuation in whenEnded { continuation.resume(returning: $0) } }
    }

    /// Waits until the response can be decided.
    package func announced() async throws {
        try await withCheckedContinuation { continuation in whenAnnounced { continuation.resume(returning: $0) } }.get()
    }

    /// The bytes so far.
    package var bytes: [UInt8] { file.prefix(Int(file.written)) }
}

extension Result where Failure == FetchError {
    /// The error's code; nil for success.
    package var code: FetchError.Code? {
        if case .failure(let error) = self {
            error.code
        } else {
            nil
        }
    }
}
