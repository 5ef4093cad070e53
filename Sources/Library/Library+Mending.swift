import EventLoop
public import Fetching
import Store

/// Fetching again what was wrong.
extension Library {
    /// So many are fetched together.
    private static let mendingWidth = 6

    /// Fetches the pieces again that a verification has found wrong and that are not there: these, and nothing else.
    ///
    /// - Throws: the first error that would not let others come either, or else the first of all; what has come stays.
    public func fetchAgain(_ verification: Verification) async throws(LibraryError) {
        let asset = verification.asset
        var failure: LibraryError?
        var wanted = missing(verification, &failure)[...]
        while !wanted.isEmpty, !verification.pace.isCancelled {
            let batch = wanted.prefix(Self.mendingWidth)
            wanted = wanted.dropFirst(batch.count)
            var fetches: [Fetch] = []
            defer { for fetch in fetches { fetch.release() } }
            for (folder, resource) in batch {
                fetches.append(try fetch(resource, in: folder, of: asset, urgency: .background))
            }
            for fetch in fetches {
                guard let error = await fetch.failure() else { continue }
                if error.concernsEverything { throw error }
                failure = failure ?? error
            }
        }
        publish(asset)
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

extension Asset {
    /// What a name in one of its folders stands for; nil where nothing leads to it any more.
    public func resource(_ name: PieceName, in folder: PieceFolder) -> Resource? {
        if folder === sessionData.folder { return sessionData.resource(named: name) }
        if case .key(let number) = name.role { return folder === keys.folder ? keys.resource(number) : nil }
        return rendition(folder.id)?.resource(named: name)
    }
}

extension Fetch {
    /// Waits for its end: why there is no piece; nil where there is one.
    fileprivate func failure() async -> LibraryError? {
        let result = await withCheckedContinuation { continuation in
            whenEnded { continuation.resume(returning: $0) }
        }
        if case .failure(let error) = result { return LibraryError(error) }
        return keepFailure.map { LibraryError($0, about: "\(resource.name) is not kept") }
    }
}
