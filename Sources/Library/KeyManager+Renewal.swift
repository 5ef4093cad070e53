import EventLoop
import Fetching
import HTTPMessage
import Playlist
public import Store

/// Renews keys, and describes them.
extension KeyManager {
    /// Fetches keys from the origin again, with the asset's URL and header fields, by one request for each. A key that
    /// is equal byte for byte becomes usable as if it were new; its media was never deleted.
    ///
    /// - Parameter numbers: nil for all keys.
    /// - Returns: the renewed keys.
    /// - Throws: `missing` if no key has the number, `otherContent` if the origin has another key now, which does not
    ///   fit the stored media, `notStored` while Weir is offline, `originRefused` and other errors of the origin. The
    ///   failed key is unchanged then; those before it are renewed.
    @discardableResult
    public func renew(_ numbers: [Int]? = nil, of asset: Asset) async throws(LibraryError) -> [Int] {
        let numbers = try check(numbers, of: asset)
        try library.checkWritable("the keys of \(asset.name) stay as they are")
        guard !asset.origin.isPlaceholder, !asset.isRecorded else {
            throw LibraryError(
                .notStored,
                "the keys of \(asset.name) cannot be renewed: it has no origin; a key that has only expired "
                    + "may be used again after: weir keys \(asset.name) --expires never")
        }
        try library.checkOnline(
            "the keys of \(asset.name) cannot be renewed while Weir is offline; what has not expired plays on")
        try library.checkExpiry(of: asset)
        findArrivals(of: asset)
        var renewed: [Int] = []
        defer { complete(renewed, in: asset) }
        for number in numbers {
            try await renew(number, in: asset)
            renewed.append(number)
        }
        return renewed
    }

    private func complete(_ renewed: [Int], in asset: Asset) {
        guard !renewed.isEmpty, !asset.isRemoved else { return }
        asset.published = asset.wholeRenditions
        if asset.bundle.exists { library.writeBundle(of: asset) }
        library.events.send(.keysChanged(asset, .renewed, numbers: renewed))
    }

    private func renew(_ number: Int, in asset: Asset) async throws(LibraryError) {
        let bytes = try await fetch(number, of: asset)
        try asset.checkNotRemoved()
        let digest = bytes.withUnsafeBytes { Digest(of: $0) }
        if let known = asset.keys.life(of: number).digest, known != digest {
            throw LibraryError(
                .otherContent,
                "the origin has another key \(number) of \(asset.name) now, which does not fit what is stored: its content "
                    + "has changed; key \(number) stays as it is")
        }
        do throws(StoreError) {
            // If the file is stored, compare its bytes: they alone identify the key.
            if asset.keys.hasFile(number), asset.keys.read(number)?.digest == digest {
                recordArrival(number, digest, of: asset)
            } else {
                try asset.keys.folder.put(bytes, as: KeyRing.name(number).description)
            }
        } catch {
            throw LibraryError(error, about: "key \(number) of \(asset.name) is not kept")
        }
        await save([number], of: asset)
    }

    /// Fetches a key, which has 16 bytes.
    private func fetch(_ number: Int, of asset: Asset) async throws(LibraryError) -> [UInt8] {
        guard let resource = asset.keys.resource(number), asset.keys.isSaved(number) else {
            throw LibraryError(.missing, "key \(number) of \(asset.name) is not known to the catalogue")
        }
        let folder = asset.keys.folder
        let fetch: Fetch
        do {
            fetch = try library.loader.fetch(
                resource, folder: folder, isLasting: true, .passing(because: nil), access: asset.access,
                urgency: .background, fallback: .none
            ) { ResourceSources(around: resource, in: folder, of: asset, library: library) }
        } catch {
            throw LibraryError(error)
        }
        defer { fetch.release() }
        fetch.isOneOff = true
        let result = await withCheckedContinuation { continuation in
            fetch.whenEnded { continuation.resume(returning: $0) }
        }
        do {
            try result.get()
        } catch {
            let failure = LibraryError(error)
            throw LibraryError(
                failure.code, "key \(number) of \(asset.name) is not renewed: \(failure.message)",
                underlying: failure.underlying)
        }
        return fetch.file.prefix(Int(Resource.Limits.key))
    }

    /// Describes the keys of an asset, by number.
    public func reports(of asset: Asset) -> [KeyReport] {
        findArrivals(of: asset)
        let (keys, terms, now) = (asset.keys, asset.keys.terms, library.date())
        _ = keys.unusable
        let uses = uses(in: asset)
        return keys.allNumbers.map { number in
            let life = keys.life(of: number)
            return KeyReport(
                number: number, isStored: keys.hasFile(number), state: keys.state(of: number), life: life,
                expiration: life.expiration(by: terms), remaining: life.remaining(by: terms, at: now),
                uses: uses[number] ?? [])
        }
    }

    /// The uses of each key, from the known playlists.
    private func uses(in asset: Asset) -> [Int: [KeyReport.Use]] {
        var uses: [Int: [KeyReport.Use]] = [:]
        for rendition in asset.renditions {
            var spans: [Int: (start: Double, end: Double, count: Int)] = [:]
            var time = 0.0
            guard let segments = rendition.source?.playlist.segments else { continue }
            for segment in segments {
                let end = time + segment.duration
                for number in Set(segment.keys.compactMap { rendition.number(of: $0) }) {
                    let known = spans[number]
                    spans[number] = (known?.start ?? time, end, (known?.count ?? 0) + 1)
                }
                time = end
            }
            for (number, span) in spans {
                uses[number, default: []].append(
                    .init(rendition: rendition.name.id, time: span.start..<span.end, segments: span.count))
            }
        }
        return uses
    }
}

/// Describes one key of an asset, without the key: its uses and its lifetime.
public struct KeyReport: Sendable {
    /// The part of a rendition that it decrypts.
    public struct Use: Equatable, Sendable {
        /// The rendition's id.
        public let rendition: String
        /// From the start of its first segment to the end of its last, in seconds.
        public let time: Range<Double>
        /// The number of its segments.
        public let segments: Int
    }

    /// The permanent number of its file.
    public let number: Int
    /// True if its file is stored.
    public let isStored: Bool
    /// Says if it is usable, expired or revoked.
    public let state: KeyLife.State
    /// Its lifetime.
    public let life: KeyLife
    /// The expiration date, in seconds since 1970; nil for never.
    public let expiration: Int64?
    /// The remaining lifetime.
    public let remaining: KeyLife.Remaining
    /// Its uses, in the order of the renditions.
    public let uses: [Use]
}
