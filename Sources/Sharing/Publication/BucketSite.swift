import EventLoop
import HTTPMessage
import Origin
import Store

/// Publishes to a bucket, or to a prefix in it.
///
/// An object is up to date if its length, the SHA-256 in its metadata, and its response fields are right. The server
/// checks the bytes against the signed SHA-256 and stores them together with the metadata: an object with the metadata
/// is complete.
@LoopActor final class BucketSite: PublicationSite {
    nonisolated let address: String
    private let requests: BucketRequests
    private let client: OriginClient
    private let asset: String
    /// The lengths of the objects in the bucket, in bytes, by path.
    private var lengths: [String: Int64] = [:]
    private var tasks: [UInt64: Task<Void, Never>] = [:]
    private var isCancelled = false

    private static let parallel = 6

    init(
        _ bucket: String, prefix: String, access: BucketAccess, asset: String, client: OriginClient
    ) throws(ExchangeError) {
        guard let base = access.base(bucket) else {
            throw ExchangeError(.badTarget, "\(access.signature.region) is no region, such as eu-central-1")
        }
        if prefix.isEmpty {
            address = "s3://\(bucket)"
            requests = BucketRequests(base: base, prefix: "", access: access)
        } else {
            address = "s3://\(bucket)/\(prefix)"
            requests = BucketRequests(base: base, prefix: prefix + "/", access: access)
        }
        self.asset = asset
        self.client = client
    }

    // MARK: Listing

    /// Of 1,000 objects each: more than an asset has.
    private static let mostPages = 2_000

    func open() async throws(ExchangeError) -> PublicationFinding {
        lengths = [:]
        var token: String?
        // A faulty store may say for ever that there is more.
        var tokens: Set<String> = []
        repeat {
            let (_, body) = try await answer(requests.list(after: token), "\(address) cannot be listed")
            guard let list = XMLElement(body), list.name == "ListBucketResult" else {
                throw ExchangeError(.badAnswer, "\(requests.base.origin) does not answer as an object store does")
            }
            let items = list.all("Contents")
            for item in items {
                record(item)
            }
            token = nil
            if list.child("IsTruncated")?.text == "true", let next = list.child("NextContinuationToken")?.text {
                let isNew = tokens.insert(next).inserted
                guard isNew, !items.isEmpty, tokens.count < Self.mostPages else {
                    throw ExchangeError(
                        .badAnswer, "the object store's list of \(address) does not end")
                }
                token = next
            }
        } while token != nil
        guard lengths[PublicationRecord.fileName] != nil else {
            return PublicationFinding(isEmpty: lengths.isEmpty, record: nil)
        }
        let (_, record) = try await answer(
            requests.get(PublicationRecord.fileName), "\(address)/\(PublicationRecord.fileName) cannot be read")
        return PublicationFinding(isEmpty: false, record: record)
    }

    /// Skips names that end with `/`: some programs write these for folders.
    private func record(_ item: XMLElement) {
        guard let key = item.child("Key")?.text, key.hasPrefix(requests.prefix), !key.hasSuffix("/") else { return }
        var length: Int64?
        if let size = item.child("Size") {
            length = Int64(size.text)
        }
        // An object without a length differs from every file, so that the file is sent again.
        lengths[String(key.dropFirst(requests.prefix.count))] = length ?? -1
    }

    // MARK: Putting

    func put(
        _ items: [ExportContents.Item], done: @escaping @LoopActor (ExportContents.Item, Bool) -> Void
    ) async throws(ExchangeError) {
        try await each(items) { [self] item throws(ExchangeError) in
            let isUpToDate = try await isUpToDate(item)
            if !isUpToDate {
                try await put(item)
            }
            done(item, !isUpToDate)
        }
    }

    private func isUpToDate(_ item: ExportContents.Item) async throws(ExchangeError) -> Bool {
        guard lengths[item.path] == item.size else { return false }
        let head = try await self.head(item.path)
        let fields = PublishedFields(item.path)
        return head?[BucketRequests.digestField] == item.digest.description
            && head?[.contentType] == fields.contentType && head?[.cacheControl] == fields.cacheControl
    }

    private func head(_ path: String) async throws(ExchangeError) -> OriginHead? {
        let (head, _) = try await reply(requests.head(path))
        if head.status == 404 {
            return nil
        }
        guard head.status == 200 else { throw refusal(head.status, body: [], "\(address)/\(path) cannot be looked at") }
        return head
    }

    private func put(_ item: ExportContents.Item) async throws(ExchangeError) {
        let request: OriginRequest?
        do throws(StoreError) {
            request = try requests.put(item)
        } catch {
            throw ExchangeError(leaving: error, "\(asset) is not completely published")
        }
        _ = try await answer(request, "\(address)/\(item.path) cannot be put there")
        lengths[item.path] = item.size
    }

    func delete(_ paths: [String]) async throws(ExchangeError) {
        try await each(paths.filter { lengths[$0] != nil }) { [self] path throws(ExchangeError) in
            _ = try await answer(requests.delete(path), "\(address)/\(path) cannot be deleted")
            lengths[path] = nil
        }
    }

    func cancel() {
        isCancelled = true
        for task in tasks.values {
            task.cancel()
        }
    }

    // MARK: Requests

    /// Calls `body` for each element, several at a time; the first error cancels the rest.
    private func each<Element: Sendable>(
        _ elements: [Element], _ body: @escaping @LoopActor (Element) async throws(ExchangeError) -> Void
    ) async throws(ExchangeError) {
        var next: Int = 0
        var failure: ExchangeError? = nil
        func work() async {
            while failure == nil, !isCancelled, next < elements.count {
                next += 1
                do throws(ExchangeError) {
                    try await body(elements[next - 1])
                } catch {
                    failure = failure ?? error
                    for task in tasks.values {
                        task.cancel()
                    }
                }
            }
        }
        for number in 0..<UInt64(Self.parallel) {
            tasks[number] = Task { @LoopActor in await work() }
        }
        for task in tasks.values {
            await task.value
        }
        tasks = [:]
        if isCancelled {
            throw ExchangeError(.cancelled, "\(asset) is not completely published")
        }
        if let failure {
            throw failure
        }
    }

    private func reply(_ request: OriginRequest?) async throws(ExchangeError) -> (OriginHead, [UInt8]) {
        guard let request, !isCancelled else { throw ExchangeError(.cancelled, "\(asset) is not completely published") }
        do throws(OriginError) {
            return try await client.fetch(request)
        } catch {
            throw ExchangeError(error)
        }
    }

    private func answer(
        _ request: OriginRequest?, _ what: String
    ) async throws(ExchangeError) -> (OriginHead, [UInt8]) {
        let (head, body) = try await reply(request)
        guard (200..<300).contains(head.status) else { throw refusal(head.status, body: body, what) }
        return (head, body)
    }

    private func refusal(_ status: Int, body: [UInt8], _ what: String) -> ExchangeError {
        let signature = requests.access.signature
        let secrets = [signature.accessKey, signature.secretKey, signature.sessionToken].compactMap(\.self)
        return BucketRefusal(status: status, body).error(what, hiding: secrets)
    }
}
