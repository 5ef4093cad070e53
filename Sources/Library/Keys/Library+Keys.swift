import EventLoop
import Fetching
import Glibc
import Playheads
package import Store

/// Manages the lifetimes of keys: expiry and revocation.
///
/// An expired or revoked key is sent to no player, counts as a hole for playback without the origin, and is in no
/// playlist of the bundle. Its media stays, and plays again after a renewal. Meanwhile a player that streams from the
/// origin gets the key from there, and the key is not stored.
extension Library {
    // MARK: Limits

    /// Applies the key limits of an asset's policy.
    ///
    /// - Returns: the keys whose lifetime changes.
    package func adoptKeyTerms(of asset: Asset, after former: KeyTerms, isPlaying: Bool) -> [Int] {
        guard asset.life.policy.keys != former else { return [] }
        findArrivals(of: asset)
        let numbers = asset.keys.lives.keys.sorted()
        let (terms, now) = (asset.life.policy.keys, date())
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
    public func setExpiry(
        _ expires: Int64?, ofKeys numbers: [Int]? = nil, of asset: Asset
    ) async throws(LibraryError) {
        let numbers = try check(numbers, of: asset)
        let now = date()
        try await change(numbers, of: asset) { $0.setExpiration(expires, at: now) }
        rectify(asset)
        events.send(.keysChanged(asset, .dated, numbers: numbers))
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
    public func invalidateKeys(_ numbers: [Int]? = nil, of asset: Asset) async throws(LibraryError) {
        let numbers = try check(numbers, of: asset)
        let now = date()
        try await change(numbers, of: asset) { $0.invalidate(at: now) }
        loader.forget([asset.keys.folder])
        rectify(asset)
        events.send(.keysChanged(asset, .invalidated, numbers: numbers))
        if let failure = deleteKeys(numbers, of: asset) {
            throw LibraryError(failure, about: "a key of \(asset.name) is not used any more, but its file is there")
        }
    }

    /// Deletes the files of unusable keys: of the revoked ones, and of those that expired before a time.
    package func sweepKeys(of asset: Asset, before bound: Int64) {
        guard readOnlyReason == nil, !asset.isRemoved else { return }
        rectify(asset)
        let numbers = asset.keys.unusable.filter { number in
            let life = asset.keys.life(of: number)
            let end = life.expiration(by: asset.keys.terms) ?? life.expiredAt ?? 0
            return life.invalidated != nil || end <= bound
        }
        guard let failure = deleteKeys(numbers.sorted(), of: asset) else { return }
        report("\(asset.name): a key that is not used any more cannot be deleted: \(failure)")
    }

    private func deleteKeys(_ numbers: [Int], of asset: Asset) -> StoreError? {
        var failure: StoreError?
        for number in numbers {
            let file = KeyRing.name(number).description
            guard asset.keys.folder.contains(file) else { continue }
            do throws(StoreError) { try asset.keys.folder.remove(file) {} } catch { failure = failure ?? error }
        }
        return failure
    }

    // MARK: Arrival and expiry

    /// Records that a key was fetched, or was placed in the store.
    func keyCame(_ number: Int, of asset: Asset) {
        guard asset.keys.isSaved(number) else { return }
        let digest = asset.keys.read(number)?.digest
        noteArrival(number, digest, of: asset)
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
            await saveKeys(numbers, of: asset)
        }
    }

    /// Restarts all time limits of a key.
    func noteArrival(_ number: Int, _ digest: Digest?, of asset: Asset) {
        let (now, isPlaying) = (date(), playheads.isPlayed(asset.id))
        asset.keys.change(number) { life in
            life.renew(at: now, digest: digest)
            if isPlaying { _ = life.recordPlay(by: asset.keys.terms, at: now) }
        }
    }

    /// Records the arrival of keys without a known date, from their files' dates.
    func findArrivals(of asset: Asset) {
        let now = date()
        for number in asset.keys.allNumbers {
            guard asset.keys.life(of: number).came == nil, asset.keys.isSaved(number),
                let (digest, date) = asset.keys.read(number)
            else { continue }
            asset.keys.change(number) { ($0.came, $0.digest) = (min(date, now), digest) }
        }
    }

    /// Starts the time limits of keys that begin with the first playback.
    func noteKeyUse(of asset: Asset) {
        guard asset.keys.terms.afterFirstPlay != nil else { return }
        let now = date()
        var begun: [Int] = []
        for number in asset.keys.allNumbers where asset.keys.has(number) {
            asset.keys.change(number) { if $0.recordPlay(by: asset.keys.terms, at: now) { begun.append(number) } }
        }
        guard !begun.isEmpty else { return }
        Task { await saveKeys(begun, of: asset) }
    }

    /// Handles expired keys.
    func keysExpired(_ numbers: [Int], of asset: Asset) {
        // Not synchronously: the caller is still in a query if something is complete.
        Task { @LoopActor in
            guard self.asset(id: asset.id) === asset else { return }
            report("\(asset.name): \(numbers.count == 1 ? "a key has" : "\(numbers.count) keys have") expired")
            rectify(asset)
            await saveKeys(numbers, of: asset)
            events.send(.keysChanged(asset, .expired, numbers: numbers))
        }
    }

    // MARK: Storage

    /// Returns the given keys, or all; throws if one does not exist.
    func check(_ numbers: [Int]?, of asset: Asset) throws(LibraryError) -> [Int] {
        let known = asset.keys.allNumbers
        if let stranger = numbers?.first(where: { !known.contains($0) }) {
            throw LibraryError(.missing, "\(asset.name) has no key \(stranger)")
        }
        return numbers.map { Set($0).sorted() } ?? known
    }

    private func change(
        _ numbers: [Int], of asset: Asset, _ change: (inout KeyLife) -> Void
    ) async throws(LibraryError) {
        if let readOnlyReason {
            throw LibraryError(readOnlyReason, about: "the keys of \(asset.name) stay as they are")
        }
        findArrivals(of: asset)
        let former = asset.keys.lives
        for number in numbers { asset.keys.change(number, change) }
        if !asset.isPersistent { await saveNew(asset) }
        guard await write(.init(keys: asset.keys.records(of: asset.id, numbers)), about: asset) else {
            asset.keys.lives = former
            asset.keys.reconsider()
            if let error = asset.saveFailure {
                throw LibraryError(error, about: "the keys of \(asset.name) stay as they are")
            }
            throw LibraryError(.missing, "\(asset.name) was removed")
        }
        if asset.bundle.exists { writeBundle(of: asset) }
    }

    /// Writes the lifetimes of keys to the catalogue and to the bundle.
    func saveKeys(_ numbers: [Int], of asset: Asset) async {
        guard asset.isPersistent, readOnlyReason == nil, !asset.isRemoved else { return }
        await write(.init(keys: asset.keys.records(of: asset.id, numbers)), about: asset)
        if asset.keys.isLimited, !asset.isRemoved, asset.bundle.exists { writeBundle(of: asset) }
    }
}

extension KeyRing {
    /// True if any of its keys has a date or limit besides its arrival.
    var isLimited: Bool {
        terms != KeyTerms() || lives.values.contains { $0.expires ?? $0.expiredAt ?? $0.invalidated != nil }
    }

    /// The digest of a stored key, and the date of its file, in seconds since 1970.
    func read(_ number: Int) -> (digest: Digest, date: Int64)? {
        let file = Self.name(number).description
        guard let descriptor = folder.open(file) else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, let digest = try? Digest(of: descriptor, path: file) else { return nil }
        return (digest, Int64(status.st_mtim.tv_sec))
    }
}
