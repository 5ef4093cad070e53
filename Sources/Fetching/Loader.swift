public import EventLoop
import HTTPMessage
package import Origin
package import Store

/// The one location by which resources come from origins: a transfer under location is joined, or one is started.
///
/// What is in the store already is the caller's to look for first (`PieceFolder.open`): that path must not pass here.
@LoopActor public final class Loader {
    /// What fetches are joined by.
    struct Key: Hashable {
        let folder: ObjectIdentifier
        private let resource: Resource?
        private let name: PieceName

        /// Whether its name stands for the same bytes for ever.
        var isLasting: Bool { resource == nil }

        /// - Parameter isLasting: the name stands for the same bytes for ever, wherever they are asked for: in what has
        ///   ended.
        init(folder: ObjectIdentifier, resource: Resource, isLasting: Bool = false) {
            self.folder = folder
            self.resource = isLasting ? nil : resource
            name = resource.name
        }
    }

    private let store: Store
    private let client: OriginClient
    /// What makes pieces of what only downloads wait for.
    package let committer: Committer
    private var fetches: [Key: Fetch] = [:]
    private let recent = RecentFetches()
    /// Fetches that ended early, to be gone on from; oldest first.
    private var parked: [Key] = []
    private var lastFile = 0
    /// Makes room once something is not kept because the store's own disk is full.
    package weak var roomMaker: (any RoomMaker)?
    /// When the disk last had room.
    private var lastCheck: ContinuousClock.Instant?
    /// Which disk that was, by a bundle's place.
    private var lastPlace: Volume?
    /// The bytes of what has ended since then.
    private var arrived: Int64 = 0
    private static let checkLife = Duration.milliseconds(10)
    private static let checkBytes: Int64 = 256 << 10

    /// How many of these wait at most.
    private static let parkedLimit = 32

    package init(store: Store, client: OriginClient) {
        self.store = store
        self.client = client
        committer = Committer(store: store)
    }

    /// What becomes of the bytes.
    package enum Keeping {
        /// They become a piece.
        case kept
        /// They pass through a file without a name; with the reason, where they should have been kept.
        case passing(because: StoreError?)
    }

    /// The fetch of a resource, retained for the caller, who releases it when it has no more use for the bytes.
    ///
    /// - Parameters:
    ///   - folder: where its piece belongs.
    ///   - isLasting: see `Key`.
    ///   - access: what its requests may have.
    ///   - fallback: what who asks has to play, if this does not come soon.
    ///   - alternates: makes the other ways to it, for a new fetch.
    /// - Throws: `store` when there is neither disk nor memory for it.
    package func fetch(
        _ resource: Resource, folder: PieceFolder, isLasting: Bool, _ keeping: Keeping, access: OriginAccess,
        urgency: Fetch.Urgency, fallback: Fetch.Fallback,
        alternates: () -> any AlternateSources
    ) throws(FetchError) -> Fetch {
        let key = Key(folder: ObjectIdentifier(folder), resource: resource, isLasting: isLasting)
        let known = known(key, urgency)
        let fetch =
            if let known { known } else { try add(resource, key, folder, keeping, access, urgency, alternates()) }
        if urgency == .playback {
            try prepareForReading(fetch)
            fetch.admit(fallback)
        }
        fetch.retain(urgency)
        if fetch.outcome.map(Self.isFailure) ?? true { fetch.start(urgency, at: resource) }
        return fetch
    }

    /// The fetches of resources of one folder for a download, each retained for the caller: what is under location is
    /// joined, what has a beginning is gone on from, and of the rest neighbours are fetched together.
    ///
    /// - Throws: `store` when there is neither disk nor memory for one of them; none that is new is fetched then.
    package func fetches(
        _ resources: [Resource], folder: PieceFolder, isLasting: Bool, access: OriginAccess,
        keeping: (Resource) -> Keeping, alternates: (Resource) -> any AlternateSources
    ) throws(FetchError) -> [Fetch] {
        var (all, new): ([Fetch], [Fetch]) = ([], [])
        do throws(FetchError) {
            for resource in resources {
                let key = Key(folder: ObjectIdentifier(folder), resource: resource, isLasting: isLasting)
                let known = known(key, .background)
                let fetch =
                    if let known { known } else {
                        try add(resource, key, folder, keeping(resource), access, .background, alternates(resource))
                    }
                if known == nil { new.append(fetch) }
                fetch.retain(.background)
                all.append(fetch)
                if fetch.outcome.map(Self.isFailure) ?? false { fetch.start(.background, at: resource) }
            }
        } catch {
            for fetch in new { fetch.end(.failure(error)) }
            for fetch in all { fetch.release() }
            throw error
        }
        MergedFetch.send(new)
        return all
    }

    /// What is under location or parked already.
    private func known(_ key: Key, _ urgency: Fetch.Urgency) -> Fetch? {
        guard let known = fetches[key] ?? passed(key, urgency) else { return nil }
        if !parked.isEmpty { parked.removeAll { $0 == key } }
        return known
    }

    /// A new fetch, which has not begun.
    private func add(
        _ resource: Resource, _ key: Key, _ folder: PieceFolder, _ keeping: Keeping, _ access: OriginAccess,
        _ urgency: Fetch.Urgency, _ alternates: any AlternateSources
    ) throws(FetchError) -> Fetch {
        let fetch = try make(resource, key, folder: folder, keeping, access, urgency)
        fetch.alternates = alternates
        fetches[key] = fetch
        return fetch
    }

    /// Sees that there is a descriptor for a player.
    private func prepareForReading(_ fetch: Fetch) throws(FetchError) {
        do {
            try fetch.file.materialize()
        } catch {
            throw FetchError(error, about: Self.noPlace)
        }
    }

    private static let noPlace = "no place for what comes from the origin"

    /// What passed through a moment ago is enough for a player; a download wants a piece, and there may be room now.
    private func passed(_ key: Key, _ urgency: Fetch.Urgency) -> Fetch? {
        urgency == .playback ? recent[key] : nil
    }

    /// Lets go of whatever belongs to these folders: they are removed. What players still read goes on, and is not
    /// kept.
    package func forget(_ folders: [PieceFolder]) {
        let folders = Set(folders.map { ObjectIdentifier($0) })
        recent.remove { folders.contains($0.folder) }
        parked.removeAll { folders.contains($0.folder) }
        for (key, fetch) in fetches where folders.contains(key.folder) {
            fetches[key] = nil
            fetch.forgo()
        }
    }

    private func make(
        _ resource: Resource, _ key: Key, folder: PieceFolder, _ keeping: Keeping, _ access: OriginAccess,
        _ urgency: Fetch.Urgency
    ) throws(FetchError) -> Fetch {
        let (file, obstacle) = try growingFile(keeping, urgency, in: folder.place)
        var home: PieceFolder?
        if case .kept = keeping { home = folder }
        return Fetch(
            resource, folder: home, file: file, obstacle: obstacle, client: client, access: access,
            committer: committer, isLasting: key.isLasting
        ) { [weak self] fetch in self?.settle(key, fetch) }
    }

    /// A file that can be kept, if it is to be and the store takes it; else one that cannot, and why.
    private func growingFile(
        _ keeping: Keeping, _ urgency: Fetch.Urgency, in place: Volume
    ) throws(FetchError) -> (GrowingFile, StoreError?) {
        var obstacle: StoreError?
        switch keeping {
        case .passing(let reason): obstacle = reason
        case .kept:
            do throws(StoreError) {
                try checkRoom(in: place)
                lastFile += 1
                let name = "\(lastFile)"
                return switch urgency {
                case .playback: (try store.growingFile(named: name, in: place), nil)
                case .background: (try store.gatheringFile(named: name, in: place), nil)
                }
            } catch {
                obstacle = error
                if error.code == .diskFull, place.isHome { roomMaker?.noteFull() }
            }
        }
        do {
            return (try store.anonymousFile(), obstacle)
        } catch {
            throw FetchError(error, about: Self.noPlace)
        }
    }

    /// Asks the disk, unless it was asked a moment ago and little has come since.
    private func checkRoom(in place: Volume) throws(StoreError) {
        let now = ContinuousClock.now
        if let lastCheck, lastPlace === place, now - lastCheck < Self.checkLife, arrived < Self.checkBytes { return }
        try store.checkRoom(in: place)
        (lastCheck, lastPlace, arrived) = (now, place, 0)
    }

    private func settle(_ key: Key, _ fetch: Fetch) {
        arrived += fetch.written
        if fetch.keepFailure?.code == .diskFull, fetch.folder?.place.isHome ?? true { roomMaker?.noteFull() }
        guard fetches[key] === fetch else { return }
        switch fetch.outcome {
        case .success:
            fetches[key] = nil
            if !fetch.isPiece, !fetch.isOneOff { recent.insert(fetch, key) }
        case .failure where fetch.isParked: park(key)
        default: fetches[key] = nil
        }
    }

    private func park(_ key: Key) {
        parked.append(key)
        if parked.count > Self.parkedLimit { fetches[parked.removeFirst()] = nil }
    }

    private static func isFailure(_ outcome: Result<Void, FetchError>) -> Bool {
        if case .failure = outcome { true } else { false }
    }
}

/// Makes room on the store's own disk.
@LoopActor package protocol RoomMaker: AnyObject {
    /// Something was not kept because the disk is full.
    func noteFull()
}
