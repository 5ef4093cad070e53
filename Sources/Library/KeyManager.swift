public import EventLoop
import Fetching
import Playheads
package import Store

/// Manages the lifetimes of keys: expiry and revocation.
///
/// An expired or revoked key is sent to no player, counts as a hole for playback without the origin, and is in no
/// playlist of the bundle. Its media stays, and plays again after a renewal. Meanwhile a player that streams from the
/// origin gets the key from there, and the key is not stored.
@LoopActor public struct KeyManager {
    let library: Library

    // MARK: Limits

    /// Applies the key limits of an asset's policy.
    ///
    /// - Returns: the keys whose lifetime changes.
    package func adoptTerms(of asset: Asset, after former: KeyTerms, isPlaying: Bool) -> [Int] {
        guard asset.life.policy.keys != former else { return [] }
        findArrivals(of: asset)
        let numbers = asset.keys.lives.keys.sorted()
        let (terms, now) = (asset.life.policy.keys, library.date())
        for number in numbers {
            asset.keys.change(number) { $0.adopt(terms, after: former, isPlaying: isPlaying, at: now) }
        }
        return numbers
    }

    /// Sets or removes the expiration date of keys.
    ///
    /// - Parameters:
    ///   - expires: in seconds since 1970; nil for never.
    ///   - numbers: nil for all keys.
    /// - Throws: `missing` if no key has the number, `store`; nothing has changed then.
    public func setExpiry(_ expires: Int64?, ofKeys numbers: [Int]? = nil, of asset: Asset) async throws(LibraryError) {
        let numbers = try check(numbers, of: asset)
        let now = library.date()
        try await change(numbers, of: asset) { $0.setExpiration(expires, at: now) }
        library.rectify(asset)
        library.events.send(.keysChanged(asset, .dated, numbers: numbers))
    }

    // MARK: Revocation

    /// Revokes keys: from now on no player gets them, and their files are deleted.
    ///
    /// The order is: the catalogue, the bundle's own playlists, the files. After a crash in between, the next process
    /// deletes the files. A remaining copy cannot be excluded: a deleted file may be read from the raw disk until its
    /// blocks are overwritten, and every player of the asset has had the key.
    ///
    /// - Parameter numbers: nil for all keys.
    /// - Throws: `missing` if no key has the number; `store` if the revocation cannot be written, and nothing has
    ///   changed then, or if a file cannot be deleted, which is tried again.
    public func invalidate(_ numbers: [Int]? = nil, of asset: Asset) async throws(LibraryError) {
        let numbers = try check(numbers, of: asset)
        let now = library.date()
        try await change(numbers, of: asset) { $0.invalidate(at: now) }
        library.loader.forget([asset.keys.folder])
        library.rectify(asset)
        library.events.send(.keysChanged(asset, .invalidated, numbers: numbers))
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
            let end = life.expiration(by: asset.keys.terms) ?? life.expiredAt ?? 0
            return life.invalidated != nil || end <= bound
        }
        guard let failure = deleteFiles(of: numbers.sorted(), in: asset) else { return }
        library.report("\(asset.name): a key that is not used any more cannot be deleted: \(failure)")
    }

    private func deleteFiles(of numbers: [Int], in asset: Asset) -> StoreError? {
        var failure: StoreError?
        for number in numbers {
            let file = KeyRing.name(number).description
            guard asset.keys.folder.contains(file) else { continue }
            do throws(StoreError) { try asset.keys.folder.remove(file) {} } catch { failure = failure ?? error }
        }
        return failure
    }

    /// True if a session that began before a key expired may still use it. As with an asset's own expiry, a running
    /// session may play to the end. No session gets a revoked key.
    public func mayUse(_ session: String, key number: Int, of asset: Asset) -> Bool {
        let life = asset.keys.life(of: number)
        guard life.invalidated == nil, let end = life.expiration(by: asset.keys.terms) ?? life.expiredAt,
            let age = library.playheads.age(of: session)
        else { return false }
        return library.date() - age < end
    }

    /// True if a session may still use all the keys of a rendition.
    public func mayUse(_ session: String, keysOf rendition: Rendition, of asset: Asset) -> Bool {
        rendition.expiredKeys.allSatisfy { number in
            asset.keys.hasFile(number) && mayUse(session, key: number, of: asset)
        }
    }

    // MARK: Arrival and expiry

    /// Records that a key was fetched, or was placed in the store.
    func recordKey(_ number: Int, of asset: Asset) {
        guard asset.keys.isSaved(number) else { return }
        recordArrival(number, asset.keys.read(number)?.digest, of: asset)
        // Without a limit, the date of the file is sufficient.
        if asset.keys.isLimited { saveSoon(number, of: asset) }
    }

    /// Writes a key's dates after a moment, together with others: there may be one key for each segment. If the process
    /// ends before that, the files' dates serve instead.
    private func saveSoon(_ number: Int, of asset: Asset) {
        let isDue = !asset.keys.unwritten.isEmpty
        asset.keys.unwritten.insert(number)
        guard !isDue else { return }
        Task { @LoopActor in
            try? await Task.sleep(for: .seconds(1))
            let numbers = asset.keys.unwritten.sorted()
            asset.keys.unwritten = []
            await save(numbers, of: asset)
        }
    }

    /// Restarts all time limits of a key.
    func recordArrival(_ number: Int, _ digest: Digest?, of asset: Asset) {
        let (now, isPlaying) = (library.date(), library.playheads.isPlayed(asset.id))
        asset.keys.change(number) { life in
            life.renew(at: now, digest: digest)
            if isPlaying { _ = life.recordPlay(by: asset.keys.terms, at: now) }
        }
    }

    /// Records the arrival of keys without a known date, from their files' dates.
    func findArrivals(of asset: Asset) {
        let now = library.date()
        for number in asset.keys.allNumbers {
            guard asset.keys.life(of: number).came == nil, asset.keys.isSaved(number),
                let (digest, date) = asset.keys.read(number)
            else { continue }
            asset.keys.change(number) { ($0.came, $0.digest) = (min(date, now), digest) }
        }
    }

    /// Starts the time limits of keys that begin with the first playback.
    func recordPlay(of asset: Asset) {
        guard asset.keys.terms.afterFirstPlay != nil else { return }
        let now = library.date()
        var begun: [Int] = []
        for number in asset.keys.allNumbers where asset.keys.has(number) {
            asset.keys.change(number) { if $0.recordPlay(by: asset.keys.terms, at: now) { begun.append(number) } }
        }
        guard !begun.isEmpty else { return }
        Task { await save(begun, of: asset) }
    }

    /// Handles expired keys.
    func handleExpiry(of numbers: [Int], of asset: Asset) {
        // Not synchronously: the caller is still in a query if something is complete.
        Task { @LoopActor in
            guard library.asset(id: asset.id) === asset else { return }
            library.report("\(asset.name): \(numbers.count == 1 ? "a key has" : "\(numbers.count) keys have") expired")
            library.rectify(asset)
            await save(numbers, of: asset)
            library.events.send(.keysChanged(asset, .expired, numbers: numbers))
        }
    }

    // MARK: Storage

    /// Returns the given keys, or all; throws if one does not exist.
    func check(_ numbers: [Int]?, of asset: Asset) throws(LibraryError) -> [Int] {
        let known = asset.keys.allNumbers
        if let unknown = numbers?.first(where: { !known.contains($0) }) {
            throw LibraryError(.missing, "\(asset.name) has no key \(unknown)")
        }
        return numbers.map { Set($0).sorted() } ?? known
    }

    private func change(
        _ numbers: [Int], of asset: Asset, _ change: (inout KeyLife) -> Void
    ) async throws(LibraryError) {
        let failure = "the keys of \(asset.name) stay as they are"
        try library.checkWritable(failure)
        findArrivals(of: asset)
        let former = asset.keys.lives
        for number in numbers { asset.keys.change(number, change) }
        if !asset.isPersistent { await library.records.saveNew(asset) }
        guard await library.records.write(.init(keys: asset.keys.records(of: asset.id, numbers)), about: asset) else {
            asset.keys.lives = former
            asset.keys.reconsider()
            throw asset.saveError(about: failure)
        }
        if asset.bundle.exists { library.writeBundle(of: asset) }
    }

    /// Writes the lifetimes of keys to the catalogue and to the bundle.
    func save(_ numbers: [Int], of asset: Asset) async {
        guard asset.isPersistent, library.readOnlyReason == nil, !asset.isRemoved else { return }
        await library.records.write(.init(keys: asset.keys.records(of: asset.id, numbers)), about: asset)
        if asset.keys.isLimited, !asset.isRemoved, asset.bundle.exists { library.writeBundle(of: asset) }
    }
}
