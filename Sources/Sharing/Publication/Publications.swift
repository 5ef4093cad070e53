package import Assets
package import EventLoop
import HTTPMessage
import Orders
import Store

/// Publishes assets: each asset to one target at a time.
@LoopActor package final class Publications {
    package let jobs = JobRegister<Publication>()
    private let library: Library

    package init(_ library: Library) { self.library = library }

    /// Publishes the complete renditions of an asset, or returns the running publication to the same target.
    ///
    /// - Parameters:
    ///   - target: see `PublicationTarget`.
    ///   - access: for a bucket; kept in memory until the end.
    /// - Throws: `badTarget`, `noProgram`, `refused` without keys for a bucket, `offline`, `exists` while the asset is
    ///   published elsewhere.
    package func publish(
        _ asset: Asset, to target: String, access: BucketAccess? = nil
    ) throws(ExchangeError) -> Publication {
        if let known = jobs[asset], known.state == .running {
            if known.target == target {
                return known
            }
            throw ExchangeError(.exists, "\(asset.name) is being published to \(known.target): let that end first")
        }
        let site = try site(PublicationTarget(target), of: asset, access)
        let publication = Publication(asset, to: target, at: site, of: library)
        jobs.insert(publication)
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
        case .rsync(let address):
            guard !library.isOffline else {
                throw ExchangeError(.offline, "\(asset.name) is not published to \(address), since Weir is offline")
            }
            return try RsyncSite(address, library.store)
        case .bucket(let bucket, let prefix):
            guard let access else {
                throw ExchangeError(
                    .refused,
                    "there are no keys for s3://\(bucket): they come from AWS_ACCESS_KEY_ID and "
                        + "AWS_SECRET_ACCESS_KEY, or from ~/.aws/credentials")
            }
            return try BucketSite(bucket, prefix: prefix, access: access, asset: asset.id, client: library.client)
        }
    }
}

/// The target of a publication, as a user writes it. Pure.
enum PublicationTarget: Equatable, Sendable {
    /// A prefix, without `/` at its ends, in a bucket of an object store with S3's API.
    case bucket(String, prefix: String)
    /// A folder on the daemon's disk, by its absolute path.
    case folder(String)
    /// A target of the program rsync: `rsync://HOST/MODULE/PATH`, or `HOST:PATH`.
    case rsync(String)

    /// - Throws: `badTarget` with the reason.
    init(_ text: String) throws(ExchangeError) {
        guard !text.isEmpty, !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw ExchangeError(.badTarget, "that is no folder or server to publish to")
        }
        if text.hasPrefix("s3://") {
            self = try Self.bucket(text)
        } else if text.hasPrefix("/") {
            self = .folder(text)
        } else if let colon = text.firstIndex(of: ":"), !text[..<colon].contains("/") {
            self = try Self.rsync(text, host: text[..<colon])
        } else {
            throw ExchangeError(
                .badTarget,
                "\(text) is neither s3://BUCKET/PREFIX, rsync://HOST/PATH or HOST:PATH, nor an absolute path")
        }
    }

    /// Allows only characters that need no escaping: signing and serving could escape others differently.
    private static func bucket(_ text: String) throws(ExchangeError) -> PublicationTarget {
        let parts = text.dropFirst("s3://".count).split(separator: "/", omittingEmptySubsequences: true)
        guard let bucket = parts.first, (3...63).contains(bucket.utf8.count),
            bucket.utf8.allSatisfy({ isSmall($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") })
        else {
            throw ExchangeError(
                .badTarget, "\(text) names no bucket: s3://BUCKET/PREFIX, in small letters, digits, - and .")
        }
        for part in parts.dropFirst() {
            guard part != ".", part != "..", PercentEncoding.encode(String(part)) == part else {
                throw ExchangeError(
                    .badTarget, "\(text): the prefix takes letters, digits, - _ . ~ and /, and no name of dots alone")
            }
        }
        return .bucket(String(bucket), prefix: parts.dropFirst().joined(separator: "/"))
    }

    static func isSmall(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Refuses hosts that begin with `-`, which ssh would take for an option, and passwords, which `ps` would show.
    private static func rsync(_ text: String, host: Substring) throws(ExchangeError) -> PublicationTarget {
        let isURL = text.hasPrefix("rsync://")
        guard isURL || !text.contains("://") else {
            throw ExchangeError(
                .badTarget, "\(host):// is no folder or server to publish to: s3://, rsync://, HOST:PATH or a folder")
        }
        let authority: Substring
        let path: Substring
        if isURL {
            authority = text.dropFirst("rsync://".count).prefix { $0 != "/" }
            path = text.dropFirst("rsync://".count + authority.count)
        } else {
            authority = host
            path = text.dropFirst(host.count + 1)
        }
        let user = authority.split(separator: "@", omittingEmptySubsequences: false)
        // A colon in the path means a user's password before the host, or `HOST::MODULE`, which is another form of rsync://.
        guard isURL || path.hasPrefix("/") || !path.contains(":"), user.count <= 2,
            !user.contains(where: { $0.isEmpty || $0.hasPrefix("-") }), user.count < 2 || !user[0].contains(":")
        else {
            throw ExchangeError(
                .badTarget, "the target for rsync is HOST:PATH or rsync://HOST/MODULE/PATH, with no password")
        }
        guard !path.isEmpty, path != "/" else {
            throw ExchangeError(.badTarget, "\(text) has no path: give a folder of its own")
        }
        return .rsync(text)
    }
}
