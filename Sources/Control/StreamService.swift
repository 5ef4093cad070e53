package import Assets
package import EventLoop
import HLS
import HTTPMessage
import Origin
package import Recordings
package import WeirAPI

/// The user's streams file.
package protocol StreamStore: Sendable {
    /// Reads all streams of the file. Throws if it is not valid.
    func read() async throws(APIError) -> [KnownStream]
    /// Appends streams, and returns all streams of the file. Throws if the file cannot be written; nothing has changed then.
    func append(_ streams: [KnownStream]) async throws(APIError) -> [KnownStream]
    /// Removes the entry of a stream, and returns the streams that are left. Throws if the file cannot be written; nothing has
    /// changed then.
    func remove(_ stream: KnownStream) async throws(APIError) -> [KnownStream]
    /// Appends a channel list, and returns all lists of the file. Throws if the file cannot be written; nothing has changed then.
    func append(_ list: KnownList) async throws(APIError) -> [KnownList]
    /// Removes the entry of a list, and returns the lists that are left. Throws if the file cannot be written; nothing has changed then.
    func remove(list: String) async throws(APIError) -> [KnownList]
}

/// Adds streams to the streams file of a running daemon, and removes them: one request at a time, because each reads the file
/// first.
@LoopActor package final class StreamService {
    private let library: Library
    private let store: any StreamStore
    private var latest: Task<Void, Never>?

    package init(_ library: Library, store: any StreamStore) {
        self.library = library
        self.store = store
    }

    package func register(in handlers: inout EndpointHandlers) {
        handlers.on(Endpoints.addStreams) { _, request throws(APIError) in try await self.add(request) }
    }

    /// Adds the streams that are new. A stream that is known already is no error.
    func add(_ request: API.StreamRequest) async throws(APIError) -> API.StreamReport {
        try await inTurn { () throws(APIError) in try await self.append(request) }
    }

    /// Removes the entry of a name. Comments of the file stay.
    func remove(named name: String) async throws(APIError) {
        try await inTurn { () throws(APIError) in
            guard let stream = self.library.streams.first(where: { $0.name == name }) else { return }
            self.library.streams = try await self.store.remove(stream)
        }
    }

    /// Adds a channel list, and returns all.
    func append(_ list: KnownList) async throws(APIError) -> [KnownList] {
        try await inTurn { () throws(APIError) in try await self.store.append(list) }
    }

    /// Removes a channel list, and returns those that are left.
    func remove(list: String) async throws(APIError) -> [KnownList] {
        try await inTurn { () throws(APIError) in try await self.store.remove(list: list) }
    }

    private func inTurn<Value: Sendable>(
        _ body: @escaping @LoopActor () async throws(APIError) -> Value
    ) async throws(APIError) -> Value {
        let before = latest
        let task = Task { @LoopActor () -> Result<Value, APIError> in
            await before?.value
            do throws(APIError) { return .success(try await body()) } catch { return .failure(error) }
        }
        latest = Task { _ = await task.value }
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
                if let name = urls[order.url] {
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
        let order = try OriginOrder(stream.url, headers: stream.headers)
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
        var derived = AssetNaming.name(for: order.url)
        // A number alone says little.
        if let name = title.map(KnownStream.name), name.contains(where: \.isLetter) {
            derived = name
        }
        let wish = stream.name ?? derived
        guard
            var known = KnownStream(
                name: AssetNaming.unique(wish, isTaken: isTaken), title: title, url: order.url)
        else { throw APIError(.badRequest, "no name can be made for it", next: "give it a name") }
        known.logo = stream.logo.flatMap { try? WebURL($0) }?.text
        known.group = stream.group.map { String($0.prefix(200)) }
        known.fields = order.fields
        known.guideID = stream.guideID.map { String($0.prefix(200)) }
        known.attributes = (stream.attributes ?? []).prefix(32).compactMap(Self.attribute)
        return known
    }

    /// Reads `tvg-chno=5`; nil for a text that is no attribute.
    private static func attribute(_ text: String) -> ChannelList.Attribute? {
        let name = text.prefix { $0 != "=" }
        return ChannelList.Attribute(
            name: String(name), value: String(text.dropFirst(name.count + 1).prefix(1_000)))
    }
}
