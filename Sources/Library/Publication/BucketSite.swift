import EventLoop
import HTTPMessage
import Origin
import Store

/// A bucket, or a part of one, as a place to publish to.
///
/// An object is right as it is where it has the length, the SHA-256 in its metadata, and the fields that it should have:
/// a list tells the lengths, and HeadObject of those that fit the rest. Metadata is put together with the bytes, which
/// the server holds against the SHA-256 that is signed, so an object that has it is whole.
@LoopActor final class BucketSite: PublicationSite {
    nonisolated let place: String
    private let requests: BucketRequests
    private let client: OriginClient
    private let asset: String
    /// What is there, by path: the length in bytes.
    private var lengths: [String: Int64] = [:]
    private var tasks: [UInt64: Task<Void, Never>] = [:]
    private var isCancelled = false

    /// Most requests at a time.
    private static let parallel = 6

    init(
        _ bucket: String, prefix: String, _ access: BucketAccess, asset: String, _ client: OriginClient
    ) throws(LibraryError) {
        guard let base = access.base(bucket) else {
            throw LibraryError(.badTarget, "\(access.signature.region) is no region, such as eu-central-1")
        }
        place = "s3://\(bucket)" + (prefix.isEmpty ? "" : "/" + prefix)
        requests = BucketRequests(base: base, prefix: prefix.isEmpty ? "" : prefix + "/", access: access)
        (self.asset, self.client) = (asset, client)
    }

    // MARK: Looking

    func look() async throws(LibraryError) -> PublicationFinding {
        lengths = [:]
        var token: String?
        repeat {
            let (_, body) = try await answer(requests.list(after: token), "\(place) cannot be listed")
            guard let list = XMLElement(body), list.name == "ListBucketResult" else {
                throw LibraryError(.badOrigin, "\(requests.base.origin) does not answer as an object store does")
            }
            for item in list.all("Contents") { note(item) }
            token = list.child("IsTruncated")?.text == "true" ? list.child("NextContinuationToken")?.text : nil
        } while token != nil
        guard lengths[PublicationRecord.fileName] != nil else {
            return PublicationFinding(isEmpty: lengths.isEmpty, record: nil)
        }
        let (_, record) = try await answer(
            requests.get(PublicationRecord.fileName), "\(place)/\(PublicationRecord.fileName) cannot be read")
        return PublicationFinding(isEmpty: false, record: record)
    }

    /// A name that ends with `/` is what some programs make of a folder: nothing.
    private func note(_ item: XMLElement) {
        guard let key = item.child("Key")?.text, key.hasPrefix(requests.prefix), !key.hasSuffix("/") else { return }
        lengths[String(key.dropFirst(requests.prefix.count))] = item.child("Size").flatMap { Int64($0.text) } ?? -1
    }

    // MARK: Putting

    func put(
        _ items: [ExportContents.Item], done: @escaping @LoopActor (ExportContents.Item, Bool) -> Void
    ) async throws(LibraryError) {
        try await each(items) { [self] item throws(LibraryError) in
            let isThere = try await isThere(item)
            if !isThere { try await put(item) }
            done(item, !isThere)
        }
    }

    private func isThere(_ item: ExportContents.Item) async throws(LibraryError) -> Bool {
        guard lengths[item.path] == item.size else { return false }
        let head = try await self.head(item.path)
        let fields = PublishedFields(item.path)
        return head?[BucketRequests.digestField] == item.digest.description
            && head?[.contentType] == fields.contentType && head?[.cacheControl] == fields.cacheControl
    }

    /// Nil where it has gone meanwhile.
    private func head(_ path: String) async throws(LibraryError) -> OriginHead? {
        let (head, _) = try await reply(requests.head(path))
        if head.status == 404 { return nil }
        guard head.status == 200 else {
            throw refusal(head.status, [], "\(place)/\(path) cannot be looked at")
        }
        return head
    }

    private func put(_ item: ExportContents.Item) async throws(LibraryError) {
        let request: OriginRequest?
        do throws(StoreError) {
            request = try requests.put(item)
        } catch {
            throw LibraryError(leaving: error, "\(asset) is not wholly published")
        }
        _ = try await answer(request, "\(place)/\(item.path) cannot be put there")
        lengths[item.path] = item.size
    }

    func delete(_ paths: [String]) async throws(LibraryError) {
        try await each(paths.filter { lengths[$0] != nil }) { [self] path throws(LibraryError) in
            _ = try await answer(requests.delete(path), "\(place)/\(path) cannot be deleted")
            lengths[path] = nil
        }
    }

    func cancel() {
        isCancelled = true
        for task in tasks.values { task.cancel() }
    }

    // MARK: Asking

    /// Does something for each, some at a time; the first error ends all.
    private func each<Element: Sendable>(
        _ elements: [Element], _ body: @escaping @LoopActor (Element) async throws(LibraryError) -> Void
    ) async throws(LibraryError) {
        var (next, failure): (Int, LibraryError?) = (0, nil)
        func work() async {
            while failure == nil, !isCancelled, next < elements.count {
                next += 1
                do throws(LibraryError) {
                    try await body(elements[next - 1])
                } catch {
                    failure = failure ?? error
                    for task in tasks.values { task.cancel() }
                }
            }
        }
        for number in 0..<UInt64(Self.parallel) { tasks[number] = Task { @LoopActor in await work() } }
        for task in tasks.values { await task.value }
        tasks = [:]
        if isCancelled { throw LibraryError(.cancelled, "\(asset) is not wholly published") }
        if let failure { throw failure }
    }

    private func reply(_ request: OriginRequest?) async throws(LibraryError) -> (OriginHead, [UInt8]) {
        guard let request, !isCancelled else { throw LibraryError(.cancelled, "\(asset) is not wholly published") }
        do throws(OriginError) {
            return try await client.fetch(request)
        } catch {
            throw LibraryError(error)
        }
    }

    /// A reply that does not refuse.
    private func answer(
        _ request: OriginRequest?, _ what: String
    ) async throws(LibraryError) -> (OriginHead, [UInt8]) {
        let (head, body) = try await reply(request)
        guard (200..<300).contains(head.status) else { throw refusal(head.status, body, what) }
        return (head, body)
    }

    private func refusal(_ status: Int, _ body: [UInt8], _ what: String) -> LibraryError {
        let signature = requests.access.signature
        let secrets = [signature.accessKey, signature.secretKey] + (signature.sessionToken.map { [$0] } ?? [])
        return BucketRefusal(status: status, body).error(what, hiding: secrets)
    }
}
