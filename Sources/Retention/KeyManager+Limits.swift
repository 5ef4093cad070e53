package import Assets
import EventLoop
import Fetching
import HLS
package import Orders
package import Store

/// Limits and revokes keys, and describes them.
extension KeyManager {
    // MARK: Limits

    /// Applies the key limits of an asset's policy. Returns the keys whose lifetime changes.
    package func adoptTerms(of asset: Asset, after former: KeyTerms, isPlaying: Bool) -> [Int] {
        guard asset.life.policy.keys != former else { return [] }
        findArrivals(of: asset)
        let numbers = asset.keys.lives.keys.sorted()
        let terms = asset.life.policy.keys
        let now = library.date()
        for number in numbers {
            asset.keys.change(number) { $0.adopt(terms, after: former, isPlaying: isPlaying, at: now) }
        }
        return numbers
    }

    /// Sets the expiration date of keys, all of them for nil; `expires` is in seconds since 1970, nil for never.
    ///
    /// - Throws: `missing` if no key has the number, `store`; nothing has changed then.
    package func setExpiry(
        _ expires: Int64?, ofKeys numbers: [Int]? = nil, of asset: Asset
    ) async throws(LibraryError) {
        let numbers = try check(numbers, of: asset)
        let now = library.date()
        try await change(numbers, of: asset) { $0.setExpiration(expires, at: now) }
        library.rectify(asset)
        library.events.send(.keysChanged(asset, .expiryChanged, numbers: numbers))
    }

    // MARK: Revocation

    /// Revokes keys, all of them for nil: from now on no player gets them, and their files are deleted.
    ///
    /// The order is: the catalogue, the bundle's own playlists, the files. After a crash in between, the next process
    /// deletes the files. Copies may remain: in the disk's unused blocks, and in every player of the asset.
    ///
    /// - Throws: `missing` if no key has the number; `store` if the revocation cannot be written, and nothing has
    ///   changed then, or if a file cannot be deleted, which is tried again.
    package func revoke(_ numbers: [Int]? = nil, of asset: Asset) async throws(LibraryError) {
        let numbers = try check(numbers, of: asset)
        let now = library.date()
        try await change(numbers, of: asset) { $0.revoke(at: now) }
        library.loader.forget([asset.keys.folder])
        library.rectify(asset)
        library.events.send(.keysChanged(asset, .revoked, numbers: numbers))
        if let failure = deleteFiles(of: numbers, in: asset) {
            throw LibraryError(failure, about: "a key of \(asset.name) is not used any more, but its file is there")
        }
    }

    /// Deletes the files of unusable keys: of the revoked ones, and of those that expired before a time.
    package func sweep(_ asset: Asset, before bound: Int64) {
        guard library.readOnlyReason == nil, !asset.isRemoved else { return }
        library.rectify(asset)
        let numbers = asset.keys.unusable.filter { number in
            let life = asset.keys.life(of: number)
            let end = life.expiration(by: asset.keys.terms) ?? life.expiredAt
            return life.revoked != nil || (end ?? 0) <= bound
        }
        guard let failure = deleteFiles(of: numbers.sorted(), in: asset) else { return }
        library.report("\(asset.name): a key that is not used any more cannot be deleted: \(failure)")
    }

    private func deleteFiles(of numbers: [Int], in asset: Asset) -> StoreError? {
        var failure: StoreError?
        for number in numbers {
            let file = KeyRing.name(number).description
            guard asset.keys.folder.contains(file) else { continue }
            do throws(StoreError) {
                try asset.keys.folder.remove(file) {}
            } catch {
                failure = failure ?? error
            }
        }
        return failure
    }

    // MARK: Reports

    /// Describes the keys of an asset, by number.
    package func reports(of asset: Asset) -> [KeyReport] {
        findArrivals(of: asset)
        let keys = asset.keys
        let terms = asset.keys.terms
        let now = library.date()
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

    private func uses(in asset: Asset) -> [Int: [KeyReport.Use]] {
        var uses: [Int: [KeyReport.Use]] = [:]
        for rendition in asset.renditions {
            guard let segments = rendition.source?.playlist.segments else { continue }

            var spans: [Int: (start: Double, end: Double, count: Int)] = [:]
            var time = 0.0
            for segment in segments {
                let end = time + segment.duration.seconds
                for number in Set(segment.keys.compactMap { rendition.number(of: $0) }) {
                    var span = spans[number] ?? (start: time, end: end, count: 0)
                    span.end = end
                    span.count += 1
                    spans[number] = span
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
package struct KeyReport: Sendable {
    /// The part of a rendition that it decrypts.
    package struct Use: Equatable, Sendable {
        package let rendition: String
        /// From the start of its first segment to the end of its last, in seconds.
        package let time: Range<Double>
        package let segments: Int
    }

    /// The permanent number of its file.
    package let number: Int
    package let isStored: Bool
    package let state: KeyState
    package let life: KeyLife
    /// The expiration date, in seconds since 1970; nil for never.
    package let expiration: Int64?
    package let remaining: KeyLife.Remaining
    /// Its uses, in the order of the renditions.
    package let uses: [Use]
}
