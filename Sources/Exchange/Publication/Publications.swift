public import EventLoop
public import Library
import Store

/// Publishes assets: each asset to one target at a time.
@LoopActor public final class Publications {
    private let library: Library
    private var byAsset: [String: Publication] = [:]

    /// Makes a publisher without publications.
    public init(_ library: Library) { self.library = library }

    /// The latest publication of an asset in this process, running or ended; nil if there is none.
    public func publication(of asset: Asset) -> Publication? {
        byAsset[asset.id].flatMap { $0.asset === asset ? $0 : nil }
    }

    /// Publishes the complete renditions of an asset, or returns the running publication to the same target.
    ///
    /// - Parameters:
    ///   - target: see `PublicationTarget`.
    ///   - access: for a bucket; kept in memory until the publication has ended.
    /// - Throws: `badTarget`, `noProgram`, `refused` without keys for a bucket, `offline`, `exists` while the asset is
    ///   published elsewhere.
    public func publish(
        _ asset: Asset, to target: String, access: BucketAccess? = nil
    ) throws(ExchangeError) -> Publication {
        if let known = publication(of: asset), known.state == .running {
            if known.target == target { return known }
            throw ExchangeError(.exists, "\(asset.name) is being published to \(known.target): let that end first")
        }
        let site = try site(PublicationTarget(target), of: asset, access)
        let publication = Publication(asset, to: target, at: site, of: library)
        byAsset[asset.id] = publication
        Task { @LoopActor in await publication.run() }
        return publication
    }

    private func site(
        _ target: PublicationTarget, of asset: Asset, _ access: BucketAccess?
    ) throws(ExchangeError) -> any PublicationSite {
        switch target {
        case .folder(let path):
            guard !library.store.contains(path), !library.store.contains(path + "/x") else {
                throw ExchangeError(.badTarget, "\(asset.name) is not published: \(path) is in the store itself")
            }
            return FolderSite(path)
        case .rsync(let place):
            guard !library.isOffline else {
                throw ExchangeError(.offline, "\(asset.name) is not published to \(place), since Weir is offline")
            }
            return try RsyncSite(place, library.store)
        case .bucket(let bucket, let prefix):
            guard let access else {
                throw ExchangeError(
                    .refused,
                    "there are no keys for s3://\(bucket): they come from AWS_ACCESS_KEY_ID and "
                        + "AWS_SECRET_ACCESS_KEY, or from ~/.aws/credentials")
            }
            return try BucketSite(bucket, prefix: prefix, access, asset: asset.id, library.client)
        }
    }
}
