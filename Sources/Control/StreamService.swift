package import Assets
package import EventLoop
import HTTPMessage
import Origin
package import WeirAPI

/// The user's streams file.
package protocol StreamStore: Sendable {
    /// Reads all streams of the file. Throws if it is not valid.
    func read() async throws(APIError) -> [KnownStream]
    /// Appends streams, and returns all streams of the file. Throws if the file cannot be written; nothing has changed then.
    func append(_ streams: [KnownStream]) async throws(APIError) -> [KnownStream]
}

/// Adds streams to the streams file of a running daemon: one request at a time, because each reads the file first.
@LoopActor package final class StreamService {
    private let library: Library
    private let store: any StreamStore
    private var latest: Task<Result<API.StreamReport, APIError>, Never>?

    package init(_ library: Library, store: any StreamStore) { (self.library, self.store) = (library, store) }

    package func register(in handlers: inout EndpointHandlers) {
        handlers.on(Endpoints.addStreams) { _, request throws(APIError) in try await self.add(request) }
    }

    /// Adds the streams that are new. A stream that is known already is no error.
    func add(_ request: API.StreamRequest) async throws(APIError) -> API.StreamReport {
        let before = latest
        let task = Task { @LoopActor () -> Result<API.StreamReport, APIError> in
            _ = await before?.value
            do throws(APIError) { return .success(try await self.append(request)) } catch { return .failure(error) }
        }
        latest = task
        return try await task.value.get()
    }

    private func append(_ request: API.StreamRequest) async throws(APIError) -> API.StreamReport {
        // The user may have edited the file since.
        library.streams = try await store.read()
        var names = Set(library.streams.map(\.name))
        var urls = Dictionary(library.streams.map { ($0.url, $0.name) }) { first, _ in first }
        var new: [KnownStream] = []
        var entries: [API.StreamReport.Entry] = []
        var slice = LoopSlice()
        for stream in request.streams {
            await slice.giveWay()
            do throws(APIError) {
                let order = try Self.order(stream, library)
                if let name = urls[order.url] ?? library.asset(at: order.url)?.name {
                    entries.append(.init(.known, name: name))
                    continue
                }
                let known = try entry(stream, order, isTaken: { names.contains($0) || library.isTaken($0) })
                names.insert(known.name)
                urls[known.url] = known.name
                new.append(known)
                entries.append(.init(.added, name: known.name))
            } catch {
                entries.append(.init(.refused, reason: error.message))
            }
        }
        if !new.isEmpty {
            library.streams = try await store.append(new)
        }
        return API.StreamReport(streams: entries)
    }

    private static func order(_ stream: API.Stream, _ library: Library) throws(APIError) -> OriginOrder {
        if let other = ForeignFormat(url: stream.url) {
            throw APIError(.refusedURL, "its URL is that of \(other.name)")
        }
        let order = try OriginOrder(stream.url, stream.headers)
        guard !order.url.needsHandler || library.isHandled(order.url) else {
            throw APIError(.refusedURL, "its URL is neither http nor https")
        }
        return order
    }

    private func entry(
        _ stream: API.Stream, _ order: OriginOrder, isTaken: (String) -> Bool
    ) throws(APIError) -> KnownStream {
        if let name = stream.name, !AssetNaming.isName(name) {
            throw APIError(.badRequest, AssetNaming.flaw(of: name))
        }
        let title = stream.title.map { String($0.prefix(200)) }
        let derived = title.map(KnownStream.name) ?? ""
        // A number alone is left of titles in other alphabets.
        let isWord = derived.utf8.contains { (0x61...0x7A).contains($0) }
        let wish = stream.name ?? (isWord ? derived : AssetNaming.name(for: order.url))
        guard
            var known = KnownStream(
                name: AssetNaming.unique(wish, isTaken: isTaken), title: title, url: order.url)
        else { throw APIError(.badRequest, "no name can be made for it", next: "give it a name") }
        known.logo = stream.logo.flatMap { try? WebURL($0) }?.text
        known.group = stream.group.map { String($0.prefix(200)) }
        known.fields = order.fields
        return known
    }
}
