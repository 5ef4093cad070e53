// The room Fetching.
//
// Duty: one resource: from the store, from a fetch in progress, or by a new fetch; then its commit.
// Entrance: `PieceFolder.open` first, then `Loader`; the decisions are `FetchState`.
// Does not enter: which resource a player or a download needs next; playlists as players see them.

public import EventLoop
import HTTPMessage
package import Origin
package import Store

/// Fetches all resources from origins: joins a running fetch, or starts a new one.
///
/// The caller looks for stored pieces first (`PieceFolder.open`): that path must not go through the loader.
@LoopActor public final class Loader {
    struct Key: Hashable {
        let folder: ObjectIdentifier
        private let resource: Resource?
        private let name: PieceName
        var isLasting: Bool { resource == nil }

        /// - Parameter isLasting: true once the playlist has ended: the name alone identifies the bytes.
        init(folder: ObjectIdentifier, resource: Resource, isLasting: Bool = false) {
            self.folder = folder
            self.resource = isLasting ? nil : resource
            name = resource.name
        }
    }

    private let store: BundleStore
    private let client: OriginClient
    /// Commits the resources that only downloads wait for.
    package let committer: Committer
    private var fetches: [Key: Fetch] = [:]
    private let recent = RecentFetches()
    /// Fetches that ended early and can be resumed; oldest first.
    private var parked: [Key] = []
    private var lastFile = 0
    /// Frees space after a resource was not stored because the store's own disk is full.
    package weak var roomMaker: (any RoomMaker)?
    private var lastCheck: ContinuousClock.Instant?
    private var lastVolume: Volume?
    private var arrived: Int64 = 0
    private static let checkLife = Duration.milliseconds(10)
    private static let checkBytes: Int64 = 256 << 10
    private static let parkedLimit = 32

    package init(store: BundleStore, client: OriginClient) {
        self.store = store
        self.client = client
        committer = Committer(store: store)
    }

    /// Says if the bytes are stored.
    package enum StorageDecision {
        case kept
        /// The bytes go to a file without a name; with the error, if they should have been stored.
        case passing(because: StoreError?)
    }

    /// Returns the fetch of a resource, retained for the caller, who must release it.
    /// - Parameters:
    ///   - held: a fetch of it that the caller has kept; nil if there is none.
    ///   - isLasting: see `Key`.
    ///   - fallback: what the caller can play if the resource does not arrive soon.
    ///   - shared: finds bytes of the resource under another name, before the origin is asked; nil if nobody else can have them.
    /// - Throws: `store` if neither disk nor memory has space for it.
    package func fetch(
        _ resource: Resource, held: Fetch? = nil, folder: PieceFolder, isLasting: Bool, _ keeping: StorageDecision,
        access: OriginAccess, urgency: Fetch.Urgency, fallback: Fetch.Fallback, shared: (() -> SharedBytes?)? = nil,
        alternates: () -> any AlternateSources
    ) throws(FetchError) -> Fetch {
        let key = Key(folder: ObjectIdentifier(folder), resource: resource, isLasting: isLasting)
        var known = held ?? existing(key, urgency)
        // From before the playlist's end: enough for what is not to be stored after it either.
        if known == nil, isLasting, case .passing = keeping {
            known = existing(Key(folder: key.folder, resource: resource), urgency)
        }
        let fetch: Fetch
        if let known {
            fetch = known
        } else {
            fetch = try add(
                resource, key: key, to: folder, keeping: keeping, with: access, urgency: urgency,
                alternates: alternates())
        }
        fetch.findShared = shared
        if urgency == .playback {
            do { try fetch.file.materialize() } catch { throw FetchError(error, about: Self.noRoom) }
            fetch.admit(fallback)
        }
        fetch.retain(urgency)
        if fetch.outcome.map(Self.isFailure) ?? true {
            fetch.start(urgency, at: resource)
        }
        return fetch
    }

    /// Returns the fetches of resources of one folder for a download, each retained for the caller. Joins running
    /// fetches, resumes parked ones, and merges adjacent ones among the rest.
    /// - Throws: `store` if neither disk nor memory has space for one of them; no new fetch is started then.
    package func fetches(
        _ resources: [Resource], folder: PieceFolder, isLasting: Bool, access: OriginAccess,
        keeping: (Resource) -> StorageDecision, shared: (Resource) -> (() -> SharedBytes?)? = { _ in nil },
        alternates: (Resource) -> any AlternateSources
    ) throws(FetchError) -> [Fetch] {
        var all: [Fetch] = []
        var new: [Fetch] = []
        var copies: [Fetch] = []
        do throws(FetchError) {
            for resource in resources {
                let key = Key(folder: ObjectIdentifier(folder), resource: resource, isLasting: isLasting)
                let known = existing(key, .background)
                let fetch: Fetch
                if let known {
                    fetch = known
                } else {
                    fetch = try add(
                        resource, key: key, to: folder, keeping: keeping(resource), with: access, urgency: .background,
                        alternates: alternates(resource))
                }
                if known == nil {
                    fetch.findShared = shared(resource)
                    if fetch.findShared?() == nil {
                        new.append(fetch)
                    } else {
                        copies.append(fetch)
                    }
                }
                fetch.retain(.background)
                all.append(fetch)
                if fetch.outcome.map(Self.isFailure) ?? false {
                    fetch.start(.background, at: resource)
                }
            }
        } catch {
            for fetch in new + copies {
                fetch.end(.failure(error))
            }
            for fetch in all {
                fetch.release()
            }
            throw error
        }
        for fetch in copies {
            fetch.start(.background, at: fetch.resource)
        }
        MergedFetch.send(new)
        return all
    }

    /// The bytes of a resource in a folder that others may read: of a fetch, or of a piece.
    package func bytes(of resource: Resource, in folder: PieceFolder) -> SharedBytes? {
        let id = ObjectIdentifier(folder)
        for isLasting in [true, false] {
            let key = Key(folder: id, resource: resource, isLasting: isLasting)
            if let fetch = fetches[key] ?? recent[key], fetch.isReadable {
                return .fetch(fetch)
            }
        }
        let file = resource.name.description
        return folder.contains(file) ? .piece(folder, file) : nil
    }

    /// The fetch of a live resource that is under way, or has ended a moment ago and was not stored; nil if there is none.
    package func recentFetch(of resource: Resource, in folder: PieceFolder) -> Fetch? {
        let key = Key(folder: ObjectIdentifier(folder), resource: resource)
        return fetches[key] ?? recent[key]
    }

    private func existing(_ key: Key, _ urgency: Fetch.Urgency) -> Fetch? {
        // A recent fetch that was not stored is enough for a player; a download needs a piece, and there may be space now.
        var found = fetches[key]
        if found == nil, urgency == .playback {
            found = recent[key]
        }
        guard let known = found else { return nil }
        if !parked.isEmpty {
            parked.removeAll { $0 == key }
        }
        return known
    }

    private func add(
        _ resource: Resource, key: Key, to folder: PieceFolder, keeping: StorageDecision, with access: OriginAccess,
        urgency: Fetch.Urgency, alternates: any AlternateSources
    ) throws(FetchError) -> Fetch {
        let (file, storageFailure) = try growingFile(keeping, urgency, in: folder.volume)
        var home: PieceFolder?
        if case .kept = keeping {
            home = folder
        }
        let fetch = Fetch(
            resource, folder: home, file: file, storageFailure: storageFailure, client: client, access: access,
            committer: committer, isLasting: key.isLasting
        ) { [weak self] fetch in
            self?.ended(key, fetch)
        }
        fetch.alternates = alternates
        fetches[key] = fetch
        return fetch
    }

    private static let noRoom = "no room for what comes from the origin"

    /// Drops everything of these folders, which are removed. Fetches with readers continue, and are not stored.
    package func forget(_ folders: [PieceFolder]) {
        let folders = Set(folders.map { ObjectIdentifier($0) })
        recent.remove { folders.contains($0.folder) }
        parked.removeAll { folders.contains($0.folder) }
        for (key, fetch) in fetches where folders.contains(key.folder) {
            fetches[key] = nil
            fetch.stopKeeping()
        }
    }

    /// True if a resource of these folders is being fetched.
    package func isFetching(in folders: [PieceFolder]) -> Bool {
        guard !fetches.isEmpty else { return false }
        let folders = Set(folders.map { ObjectIdentifier($0) })
        return fetches.keys.contains { folders.contains($0.folder) }
    }

    /// Drops what is not being fetched any more, and not stored.
    package func forgetRecent(of folder: PieceFolder) {
        let id = ObjectIdentifier(folder)
        recent.remove { $0.folder == id }
        for key in parked where key.folder == id {
            fetches[key] = nil
        }
        parked.removeAll { $0.folder == id }
    }

    /// Makes a file that can be stored, if required and accepted; otherwise one that cannot, with the reason.
    private func growingFile(
        _ keeping: StorageDecision, _ urgency: Fetch.Urgency, in volume: Volume
    ) throws(FetchError) -> (GrowingFile, StoreError?) {
        var storageFailure: StoreError?
        switch keeping {
        case .passing(let reason): storageFailure = reason
        case .kept:
            do throws(StoreError) {
                try checkRoom(in: volume)
                lastFile += 1
                let name = "\(lastFile)"
                return switch urgency {
                case .playback: (try store.growingFile(named: name, in: volume), nil)
                case .background: (try store.gatheringFile(named: name, in: volume), nil)
                }
            } catch {
                storageFailure = error
                if error.code == .diskFull, volume.isHome {
                    roomMaker?.recordDiskFull()
                }
            }
        }
        do {
            return (try store.anonymousFile(), storageFailure)
        } catch {
            throw FetchError(error, about: Self.noRoom)
        }
    }

    /// Checks the free space, unless a recent check succeeded and little has arrived since.
    private func checkRoom(in volume: Volume) throws(StoreError) {
        let now = ContinuousClock.now
        if let lastCheck, lastVolume === volume, now - lastCheck < Self.checkLife, arrived < Self.checkBytes {
            return
        }
        try store.checkRoom(in: volume)
        lastCheck = now
        lastVolume = volume
        arrived = 0
    }

    private func ended(_ key: Key, _ fetch: Fetch) {
        arrived += fetch.written
        if fetch.keepFailure?.code == .diskFull, fetch.folder?.volume.isHome ?? true {
            roomMaker?.recordDiskFull()
        }
        guard fetches[key] === fetch else { return }
        switch fetch.outcome {
        case .success:
            fetches[key] = nil
            if !fetch.isPiece, !fetch.isOneOff, fetch.contentError == nil {
                recent.insert(fetch, key)
            }
        case .failure where fetch.isParked:
            parked.append(key)
            if parked.count > Self.parkedLimit {
                fetches[parked.removeFirst()] = nil
            }
        default: fetches[key] = nil
        }
    }

    private static func isFailure(_ outcome: Result<Void, FetchError>) -> Bool {
        if case .failure = outcome {
            true
        } else {
            false
        }
    }
}

@LoopActor package protocol RoomMaker: AnyObject {
    func recordDiskFull()
}

/// Keeps ended fetches that are not stored, for players that request the resource a little later.
/// Limited by age, because a live stream's players are some seconds apart at most; by number, because each holds a
/// descriptor; and by bytes, because each holds its file, which may be in memory.
@LoopActor final class RecentFetches {
    struct Limits {
        var age = Duration.seconds(60)
        var count = 128
        var bytes: Int64 = 128 << 20
    }

    private let limits: Limits
    private var fetches: [Loader.Key: Fetch] = [:]
    /// Oldest first.
    private var order: [(key: Loader.Key, ended: ContinuousClock.Instant)] = []
    private var bytes: Int64 = 0
    private var expiry: LoopTimer?

    init(_ limits: Limits = Limits()) {
        self.limits = limits
        expiry = LoopTimer { [weak self] in self?.expire() }
    }

    subscript(_ key: Loader.Key) -> Fetch? { fetches[key] }

    func insert(_ fetch: Fetch, _ key: Loader.Key) {
        guard fetch.written <= limits.bytes else { return }
        remove { $0 == key }
        fetches[key] = fetch
        order.append((key, .now))
        bytes += fetch.written
        while order.count > limits.count || bytes > limits.bytes {
            removeOldest()
        }
        if order.count == 1 {
            expiry?.schedule(after: limits.age)
        }
    }

    func remove(where isMeant: (Loader.Key) -> Bool) {
        guard !order.isEmpty else { return }
        for (key, _) in order where isMeant(key) {
            bytes -= fetches.removeValue(forKey: key)?.written ?? 0
        }
        order.removeAll { fetches[$0.key] == nil }
    }

    private func removeOldest() { bytes -= fetches.removeValue(forKey: order.removeFirst().key)?.written ?? 0 }

    private func expire() {
        let limit = ContinuousClock.now - limits.age
        while let oldest = order.first, oldest.ended <= limit {
            removeOldest()
        }
        if let oldest = order.first {
            expiry?.schedule(after: oldest.ended - limit)
        }
    }
}
