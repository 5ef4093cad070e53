package import Assets
package import EventLoop
package import Orders
import Store

/// One publication of an asset, with its progress: writes the complete renditions to a target, where they play without Weir.
@LoopActor package final class Publication: AssetJob {
    package let asset: Asset
    /// The target, as the user wrote it.
    package let target: String
    package private(set) var state = JobState.running
    package private(set) var failure: ExchangeError?
    /// The number of files to publish, and their size in bytes; 0 before they are known.
    package private(set) var total: (files: Int, bytes: Int64) = (0, 0)
    /// The number of files at the target, and their size in bytes.
    package private(set) var present: (files: Int, bytes: Int64) = (0, 0)
    /// The number of files that were sent because the target lacked them, and their size in bytes.
    package private(set) var sent: (files: Int, bytes: Int64) = (0, 0)
    /// The number of deleted files of an earlier publication.
    package private(set) var deleted = 0

    /// Released at the end: it holds keys, or a lock.
    private var site: (any PublicationSite)?
    private let library: Library
    private var isCancelled = false

    init(_ asset: Asset, to target: String, at site: any PublicationSite, of library: Library) {
        self.asset = asset
        self.target = target
        self.site = site
        self.library = library
    }

    /// Cancels the publication. Its files stay, and the next publication to the same target continues.
    package func cancel() {
        guard state == .running, !isCancelled else { return }
        isCancelled = true
        site?.cancel()
    }

    func run() async {
        defer { site = nil }
        do throws(ExchangeError) {
            if let site {
                try await publish(at: site)
            }
            state = .complete
        } catch {
            if isCancelled {
                state = .cancelled
                failure = nil
            } else {
                state = .failed
                failure = error
            }
        }
    }

    private func publish(at site: any PublicationSite) async throws(ExchangeError) {
        // Pieces that other programs have deleted are found now, and not in the middle of the publication.
        await library.survey(asset)
        let items = try await items(of: try await AssetExport(asset: asset).verifiedContents())
        let paths = Set(items.map(\.path))
        total = (items.count, items.reduce(0) { $0 + $1.size })
        let record = try await previousRecord(at: site)
        let obsolete = record?.paths.subtracting(paths) ?? []
        let all = PublicationRecord(asset: asset.id, paths: paths.union(obsolete))
        if record != all {
            try await write(all, at: site)
        }
        for stage in PublicationStage.allCases {
            try await send(items.filter { PublicationStage(of: $0.path) == stage }, to: site)
        }
        guard !obsolete.isEmpty else { return }
        try check()
        try await site.delete(obsolete.sorted())
        deleted = obsolete.count
        try await write(PublicationRecord(asset: asset.id, paths: paths), at: site)
    }

    private nonisolated func items(of contents: ExportContents) async throws(ExchangeError) -> [ExportContents.Item] {
        do {
            return try await DiskWork.run { () throws(StoreError) in try contents.items() }
        } catch {
            throw await ExchangeError(leaving: error, "\(asset.name) is not published")
        }
    }

    private func previousRecord(at site: any PublicationSite) async throws(ExchangeError) -> PublicationRecord? {
        try check()
        let found = try await site.open()
        let record = found.record.flatMap { PublicationRecord($0) }
        guard found.isEmpty || record?.asset == asset.id else {
            let owner =
                record.map { "the publication of another asset, \($0.asset)" }
                ?? "something that Weir did not put there"
            throw ExchangeError(.exists, "\(asset.name) is not published: at \(site.address) there is \(owner)")
        }
        return record
    }

    private func write(_ record: PublicationRecord, at site: any PublicationSite) async throws(ExchangeError) {
        try check()
        try await site.put([ExportContents.Item(PublicationRecord.fileName, record.text)]) { _, _ in }
    }

    private func send(_ items: [ExportContents.Item], to site: any PublicationSite) async throws(ExchangeError) {
        try check()
        try await site.put(items) { [self] item, isSent in
            present = (present.files + 1, present.bytes + item.size)
            if isSent {
                sent = (sent.files + 1, sent.bytes + item.size)
            }
        }
    }

    private func check() throws(ExchangeError) {
        if isCancelled {
            throw ExchangeError(.cancelled, "\(asset.name) is not completely published")
        }
    }
}

enum PublicationStage: CaseIterable {
    /// Segments and initialization sections, keys, sums, the image, `asset.json`.
    case pieces
    /// Media playlists.
    case mediaPlaylists
    /// The multivariant playlist.
    case master

    init(of path: String) {
        if path == "master.m3u8" {
            self = .master
        } else if path.hasSuffix(".m3u8") {
            self = .mediaPlaylists
        } else {
            self = .pieces
        }
    }
}

/// The contents of `weir-published.txt` at a target: a heading with the asset's id, and the files that Weir has put
/// there.
///
/// ```
/// # weir publication 1 sintel-k3f9
/// asset.json
/// video-720p/0.m4s
/// ```
/// A file is listed before it is put there, and until it is deleted: Weir knows its own files even after it was killed.
struct PublicationRecord: Equatable, Sendable {
    static let fileName = "weir-published.txt"
    private static let heading = "# weir publication 1 "

    let asset: String
    var paths: Set<String>

    init(asset: String, paths: Set<String>) {
        self.asset = asset
        self.paths = paths
    }

    init?(_ text: [UInt8]) {
        var lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        guard let first = lines.first, first.hasPrefix(Self.heading) else { return nil }
        lines.removeFirst()
        asset = String(first.dropFirst(Self.heading.count))
        // A damaged record must not lead to files that no publication has.
        paths = Set(lines.map(String.init).filter(Self.isPath))
    }

    var text: [UInt8] { Array((Self.heading + asset + "\n" + paths.sorted().map { $0 + "\n" }.joined()).utf8) }

    /// True for the path of a published file: one or two names, without `..`.
    static func isPath(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return (1...2).contains(parts.count) && parts.allSatisfy { Directory.isName(String($0)) }
    }
}
