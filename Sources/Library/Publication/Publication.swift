public import EventLoop
import Store

/// One publication of an asset: what is whole of it put where it plays with no Weir, and how far that is.
@LoopActor public final class Publication {
    /// What is published.
    public let asset: Asset
    /// Where to, as it was written.
    public let target: String
    /// Where it is.
    public private(set) var state = JobState.running
    /// What kept it from its end.
    public private(set) var failure: LibraryError?
    /// How many files there are, and the sum of their lengths in bytes; 0 before they are known.
    public private(set) var total: (files: Int, bytes: Int64) = (0, 0)
    /// How many of them are there, and their bytes.
    public private(set) var present: (files: Int, bytes: Int64) = (0, 0)
    /// How many of these were sent, as they were not there before.
    public private(set) var sent: (files: Int, bytes: Int64) = (0, 0)
    /// How many files of an earlier publication were deleted.
    public private(set) var deleted = 0

    /// Gone with the end: it has keys, or a lock.
    private var site: (any PublicationSite)?
    private let library: Library
    private var isCancelled = false

    init(_ asset: Asset, to target: String, at site: any PublicationSite, of library: Library) {
        (self.asset, self.target, self.site, self.library) = (asset, target, site, library)
    }

    /// Gives it up: what is there stays, and the next one to the same place goes on.
    public func cancel() {
        guard state == .running, !isCancelled else { return }
        isCancelled = true
        site?.cancel()
    }

    /// Does all of it.
    func run() async {
        defer { site = nil }
        do throws(LibraryError) {
            if let site { try await publish(at: site) }
            state = .done
        } catch {
            state = isCancelled ? .cancelled : .failed
            failure = isCancelled ? nil : error
        }
    }

    private func publish(at site: any PublicationSite) async throws(LibraryError) {
        // What others have deleted is not to be found in the midst of it.
        await library.survey(asset)
        let items = try await items(of: try asset.exportContents())
        let paths = Set(items.map(\.path))
        total = (items.count, items.reduce(0) { $0 + $1.size })
        let record = try await former(at: site)
        let obsolete = record.map { $0.paths.subtracting(paths) } ?? []
        let all = PublicationRecord(asset: asset.id, paths: paths.union(obsolete))
        if record != all { try await note(all, at: site) }
        for stage in PublicationStage.allCases {
            try await send(items.filter { PublicationStage(of: $0.path) == stage }, to: site)
        }
        guard !obsolete.isEmpty else { return }
        try check()
        try await site.delete(obsolete.sorted())
        deleted = obsolete.count
        try await note(PublicationRecord(asset: asset.id, paths: paths), at: site)
    }

    private nonisolated func items(of contents: ExportContents) async throws(LibraryError) -> [ExportContents.Item] {
        do {
            return try await DiskWork.run { () throws(StoreError) in try contents.items() }
        } catch {
            throw await LibraryError(leaving: error, "\(asset.name) is not published")
        }
    }

    /// The record of what was published there before; nil where nothing was.
    private func former(at site: any PublicationSite) async throws(LibraryError) -> PublicationRecord? {
        try check()
        let found = try await site.look()
        let record = found.record.flatMap { PublicationRecord($0) }
        guard found.isEmpty || record?.asset == asset.id else {
            let owner =
                record.map { "the publication of another asset, \($0.asset)" }
                ?? "something that Weir did not put there"
            throw LibraryError(.exists, "\(asset.name) is not published: at \(site.place) there is \(owner)")
        }
        return record
    }

    private func note(
        _ record: PublicationRecord, at site: any PublicationSite
    ) async throws(LibraryError) {
        try check()
        try await site.put([ExportContents.Item(PublicationRecord.fileName, record.text)]) { _, _ in }
    }

    private func send(
        _ items: [ExportContents.Item], to site: any PublicationSite
    ) async throws(LibraryError) {
        try check()
        try await site.put(items) { [self] item, isSent in
            present = (present.files + 1, present.bytes + item.size)
            if isSent { sent = (sent.files + 1, sent.bytes + item.size) }
        }
    }

    private func check() throws(LibraryError) {
        if isCancelled { throw LibraryError(.cancelled, "\(asset.name) is not wholly published") }
    }
}
