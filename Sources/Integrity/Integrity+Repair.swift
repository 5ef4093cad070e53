import EventLoop
import Fetching
public import Library
import Store

/// Repairs damaged pieces.
extension Integrity {
    /// The number of pieces that are fetched at a time.
    private static let repairWidth = 6

    /// Fetches the damaged pieces of a verification again if they are still missing, and no other pieces.
    ///
    /// - Throws: the first error that would stop other pieces as well, or else the first error; fetched pieces stay.
    public func fetchAgain(_ verification: Verification) async throws(LibraryError) {
        let asset = verification.asset
        var failure: LibraryError?
        var wanted = missing(verification, &failure)[...]
        while !wanted.isEmpty, !verification.pace.isCancelled {
            let batch = wanted.prefix(Self.repairWidth)
            wanted = wanted.dropFirst(batch.count)
            var fetches: [Fetch] = []
            defer { for fetch in fetches { fetch.release() } }
            for (folder, resource) in batch {
                fetches.append(try library.fetch(resource, in: folder, of: asset, urgency: .background))
            }
            for fetch in fetches {
                guard let error = await fetch.failure() else { continue }
                if error.concernsEverything { throw error }
                failure = failure ?? error
            }
        }
        library.publish(asset)
        if let failure { throw failure }
    }

    private func missing(
        _ verification: Verification, _ failure: inout LibraryError?
    ) -> [(PieceFolder, Resource)] {
        let asset = verification.asset
        var wanted: [(PieceFolder, Resource)] = []
        for (id, faults) in verification.faults.sorted(by: { $0.key < $1.key }) {
            guard let folder = asset.folder(id) else { continue }
            for file in faults.keys.sorted() where !folder.contains(file) {
                if let resource = PieceName(file).flatMap({ asset.resource($0, in: folder) }) {
                    wanted.append((folder, resource))
                } else {
                    let sentence = "\(asset.name): \(id)/\(file) cannot be had again, since no playlist says from where"
                    failure = failure ?? LibraryError(.missing, sentence)
                }
            }
        }
        return wanted
    }
}

extension Fetch {
    /// Waits for the end of the fetch. Returns the reason why no piece was stored; nil if one was stored.
    fileprivate func failure() async -> LibraryError? {
        let result = await withCheckedContinuation { continuation in
            whenEnded { continuation.resume(returning: $0) }
        }
        if case .failure(let error) = result { return LibraryError(error) }
        return keepFailure.map { LibraryError($0, about: "\(resource.name) is not kept") }
    }
}
