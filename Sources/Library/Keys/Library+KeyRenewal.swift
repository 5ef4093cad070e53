import EventLoop
import Fetching
import HTTPMessage
import Store

/// Renews keys.
extension Library {
    /// Fetches keys from the origin again, with the asset's URL and header fields, by one request for each. A key that
    /// is equal byte for byte becomes usable as if it were new; its media was never deleted.
    ///
    /// - Parameter numbers: nil for all keys.
    /// - Returns: the renewed keys.
    /// - Throws: `missing` if no key has the number, `otherContent` if the origin has another key now, which does not
    ///   fit the stored media, `notStored` while Weir is offline, `originRefused` and other errors of the origin. The
    ///   failed key is unchanged then; those before it are renewed.
    @discardableResult
    public func renewKeys(_ numbers: [Int]? = nil, of asset: Asset) async throws(LibraryError) -> [Int] {
        let numbers = try check(numbers, of: asset)
        if let readOnlyReason {
            throw LibraryError(readOnlyReason, about: "the keys of \(asset.name) stay as they are")
        }
        guard !asset.origin.isPlaceholder, !asset.isRecorded else {
            throw LibraryError(
                .notStored,
                "the keys of \(asset.name) cannot be renewed: it has no origin; a key that has only expired "
                    + "may be used again after: weir keys \(asset.name) --expires never")
        }
        guard !isOffline else {
            throw LibraryError(
                .notStored,
                "the keys of \(asset.name) cannot be renewed while Weir is offline; what has not expired plays on")
        }
        try checkExpiry(of: asset)
        findArrivals(of: asset)
        var renewed: [Int] = []
        do throws(LibraryError) {
            for number in numbers {
                try await renew(number, of: asset)
                renewed.append(number)
            }
        } catch {
            finish(renewed, of: asset)
            throw error
        }
        finish(renewed, of: asset)
        return renewed
    }

    private func finish(_ renewed: [Int], of asset: Asset) {
        guard !renewed.isEmpty, !asset.isRemoved else { return }
        asset.published = asset.wholeRenditions
        if asset.bundle.exists { writeBundle(of: asset) }
        events.send(.keysChanged(asset, .renewed, numbers: renewed))
    }

    private func renew(_ number: Int, of asset: Asset) async throws(LibraryError) {
        let bytes = try await fetchKey(number, of: asset)
        guard !asset.isRemoved else { throw LibraryError(.missing, "\(asset.name) was removed") }
        let digest = bytes.withUnsafeBytes { Digest(of: $0) }
        if let known = asset.keys.life(of: number).digest, known != digest {
            throw LibraryError(
                .otherContent,
                "the origin has another key \(number) of \(asset.name) now, which does not fit what is stored: its content "
                    + "has changed; key \(number) stays as it is")
        }
        let file = KeyRing.name(number).description
        do throws(StoreError) {
            // If the file is stored, compare its bytes: they alone identify the key.
            if asset.keys.folder.contains(file), asset.keys.read(number)?.digest == digest {
                noteArrival(number, digest, of: asset)
            } else {
                try asset.keys.folder.put(bytes, as: file)
            }
        } catch {
            throw LibraryError(error, about: "key \(number) of \(asset.name) is not kept")
        }
        await saveKeys([number], of: asset)
    }

    /// Fetches a key, which has 16 bytes.
    private func fetchKey(_ number: Int, of asset: Asset) async throws(LibraryError) -> [UInt8] {
        guard let resource = asset.keys.resource(number), asset.keys.isSaved(number) else {
            throw LibraryError(.missing, "key \(number) of \(asset.name) is not known to the catalogue")
        }
        let folder = asset.keys.folder
        let fetch: Fetch
        do {
            fetch = try loader.fetch(
                resource, folder: folder, isLasting: true, .passing(because: nil), access: asset.access,
                urgency: .background, fallback: .none
            ) { ResourceSources(around: resource, in: folder, of: asset, library: self) }
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
}
