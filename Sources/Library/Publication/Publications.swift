public import EventLoop
import Store

/// The publications of a library's assets: one of each asset at a time.
@LoopActor public final class Publications {
    private let library: Library
    private var byAsset: [String: Publication] = [:]

    /// None yet.
    public init(_ library: Library) { self.library = library }

    /// The last publication of an asset that was begun, over or not; nil where there was none in this process.
    public func publication(of asset: Asset) -> Publication? {
        byAsset[asset.id].flatMap { $0.asset === asset ? $0 : nil }
    }

    /// Publishes what is whole of an asset; where that goes on to the same place already, that one goes on.
    ///
    /// - Parameters:
    ///   - target: see `PublicationTarget`.
    ///   - access: for a bucket; kept in memory until the publication has ended.
    /// - Throws: `badTarget`, `noProgram`, `originRefused` without keys for a bucket, `exists` while the asset is
    ///   published elsewhere.
    public func publish(
        _ asset: Asset, to target: String, access: BucketAccess? = nil
    ) throws(LibraryError) -> Publication {
        if let known = publication(of: asset), known.state == .running {
            if known.target == target { return known }
            throw LibraryError(.exists, "\(asset.name) is being published to \(known.target): let that end first")
        }
        let site = try site(PublicationTarget(target), of: asset, access)
        let publication = Publication(asset, to: target, at: site, of: library)
        byAsset[asset.id] = publication
        Task { @LoopActor in await publication.run() }
        return publication
    }

    private func site(
        _ target: PublicationTarget, of asset: Asset, _ access: BucketAccess?
    ) throws(LibraryError) -> any PublicationSite {
        switch target {
        case .folder(let path):
            guard !library.store.contains(path), !library.store.contains(path + "/x") else {
                throw LibraryError(.badTarget, "\(asset.name) is not published: \(path) is in the store itself")
            }
            return FolderSite(path)
        case .rsync(let place):
            guard !library.isOffline else {
                throw LibraryError(.notStored, "\(asset.name) is not published to \(place), since Weir is offline")
            }
            return try RsyncSite(place, library.store)
        case .bucket(let bucket, let prefix):
            guard let access else {
                throw LibraryError(
                    .originRefused,
                    "there are no keys for s3://\(bucket): they come from AWS_ACCESS_KEY_ID and "
                        + "AWS_SECRET_ACCESS_KEY, or from ~/.aws/credentials")
            }
            return try BucketSite(bucket, prefix: prefix, access, asset: asset.id, library.playlistFetcher.client)
        }
    }
}
