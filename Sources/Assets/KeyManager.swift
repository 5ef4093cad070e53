public import EventLoop
import Fetching
import HTTPMessage
import Orders
import Origin
import Playheads
package import Store

/// Stores, renews and expires keys. The room Retention limits and revokes them. An expired or revoked key is sent to no
/// player, counts as a hole for playback without the origin, and is in no playlist of the bundle. Its media stays, and
/// plays again after a renewal. Meanwhile a player that streams from the origin gets the key there; it is not stored.
@LoopActor public struct KeyManager {
    package let library: Library

    /// True if a session that began before a key expired may still use it. As with an asset's own expiry, a running
    /// session may play to the end. No session gets a revoked key.
    public func mayUse(_ session: String, key number: Int, of asset: Asset) -> Bool {
        let life = asset.keys.life(of: number)
        guard life.revoked == nil, let end = life.expiration(by: asset.keys.terms) ?? life.expiredAt,
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
        if asset.keys.isLimited || asset.keys.life(of: number).expires != nil {
            saveSoon(number, of: asset)
        }
    }

    /// Writes keys' dates after a moment, together: each segment may have its own key. Until then, files' dates serve.
    private func saveSoon(_ number: Int, of asset: Asset) {
        let isDue = !asset.keys.unwritten.isEmpty
        asset.keys.unwritten.insert(number)
        guard !isDue else { return }
        Task { @LoopActor in
            try? await LoopActor.pause(for: .seconds(1))
            let numbers = asset.keys.unwritten.sorted()
            asset.keys.unwritten = []
            await save(numbers, of: asset)
        }
    }

    /// Restarts all time limits of a key.
    func recordArrival(_ number: Int, _ digest: Digest?, of asset: Asset) {
        let now = library.date()
        let isPlaying = library.playheads.isPlayed(asset.id)
        let end = asset.keys.resource(number).flatMap { library.client.handlers?.expiry(of: $0.url) }
        asset.keys.change(number) { life in
            life.renew(at: now, digest: digest)
            if let end {
                life.setExpiration(Int64(end), at: now)
            }
            if isPlaying {
                _ = life.recordPlay(by: asset.keys.terms, at: now)
            }
        }
    }

    /// Records the arrival of keys without a known date, from their files' dates.
    package func findArrivals(of asset: Asset) {
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
        // Before the first change: after each one the next key's state would be looked for again.
        let stored = asset.keys.allNumbers.filter { asset.keys.has($0) }
        for number in stored {
            asset.keys.change(number) { life in
                if life.recordPlay(by: asset.keys.terms, at: now) {
                    begun.append(number)
                }
            }
        }
        guard !begun.isEmpty else { return }
        Task { await save(begun, of: asset) }
    }

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

    package func check(_ numbers: [Int]?, of asset: Asset) throws(LibraryError) -> [Int] {
        guard let numbers else { return asset.keys.allNumbers }
        if let unknown = numbers.first(where: { asset.keys.resource($0) == nil }) {
            throw LibraryError(.missing, "\(asset.name) has no key \(unknown)")
        }
        return Set(numbers).sorted()
    }

    package func change(
        _ numbers: [Int], of asset: Asset, _ change: (inout KeyLife) -> Void
    ) async throws(LibraryError) {
        let failure = "the keys of \(asset.name) stay as they are"
        try library.checkWritable(failure)
        findArrivals(of: asset)
        let former = asset.keys.lives
        for number in numbers {
            asset.keys.change(number, change)
        }
        if !asset.isPersistent {
            await library.records.saveNew(asset)
        }
        guard await library.records.write(.init(keys: asset.keys.records(of: asset.id, numbers)), about: asset) else {
            asset.keys.lives = former
            asset.keys.reconsider()
            throw asset.saveError(about: failure)
        }
        if asset.bundle.exists {
            library.writeBundle(of: asset)
        }
    }

    /// Writes the lifetimes of keys to the catalogue and to the bundle.
    func save(_ numbers: [Int], of asset: Asset) async {
        guard asset.isPersistent, library.readOnlyReason == nil, !asset.isRemoved else { return }
        await library.records.write(.init(keys: asset.keys.records(of: asset.id, numbers)), about: asset)
        if asset.keys.isLimited, !asset.isRemoved, asset.bundle.exists {
            library.writeBundle(of: asset)
        }
    }

    /// Deletes keys that do not decrypt what is stored: they are fetched again, whatever bytes come then. The segments stay.
    package func discard(_ numbers: [Int], of asset: Asset) async throws(LibraryError) {
        try await change(numbers, of: asset) { $0.digest = nil }
        let names = Set(numbers.map { KeyRing.name($0) })
        asset.keys.folder.removePieces { names.contains($0) }
    }

    /// Asks the origin once more for a key that does not decrypt what it is for, and stores other bytes in its place. The segments
    /// stay. Returns true if the origin has sent other bytes.
    package func replaceUnfit(_ number: Int, of asset: Asset) async throws(LibraryError) -> Bool {
        let bytes = try await fetch(number, of: asset)
        try asset.checkNotRemoved()
        let digest = bytes.withUnsafeBytes { Digest(of: $0) }
        guard asset.keys.read(number)?.digest != digest else { return false }
        try await change([number], of: asset) { $0.digest = nil }
        do throws(StoreError) {
            try asset.keys.folder.put(bytes, as: KeyRing.name(number).description)
        } catch {
            throw LibraryError(error, about: "key \(number) of \(asset.name) is not kept")
        }
        await save([number], of: asset)
        return true
    }

    // MARK: Renewal

    /// Fetches keys again, all of them for nil, and returns the renewed ones. A key that is equal byte for byte becomes
    /// usable as if it were new; its media was never deleted.
    /// - Throws: `missing` if no key has the number, `otherContent` if the origin has another key now, which does not
    ///   fit the stored media, and errors of the origin. The failed key is unchanged then; those before it are renewed.
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
        asset.published = asset.content.completeRenditions
        if asset.bundle.exists {
            library.writeBundle(of: asset)
        }
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
            throw LibraryError(error, about: "key \(number) of \(asset.name) cannot be stored")
        }
        await save([number], of: asset)
    }

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
        return fetch.file.prefix(Int(min(fetch.written, Resource.Limits.key)))
    }
}
