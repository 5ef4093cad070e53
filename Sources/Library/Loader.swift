public import EventLoop
import HTTPMessage
import Origin
import Store

/// The one way by which resources come from origins: a transfer under way is joined, or one is started.
///
/// What is in the store already is the caller's to look for first (`PieceFolder.open`): that path must not pass here.
@LoopActor public final class Loader {
    /// What flights are joined by.
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
    let committer: Committer
    private var flights: [Key: Flight] = [:]
    private let recent = RecentFlights()
    /// Flights that ended early, to be gone on from; oldest first.
    private var parked: [Key] = []
    private var lastFile = 0
    /// Told when something is not kept because the store's own disk is full.
    var full: () -> Void = {}
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

    init(store: Store, client: OriginClient) {
        self.store = store
        self.client = client
        committer = Committer(store: store)
    }

    /// What becomes of the bytes.
    enum Keeping {
        /// They become a piece.
        case kept
        /// They pass through a file without a name; with the reason, where they should have been kept.
        case passing(because: StoreError?)
    }

    /// The flight of a resource, retained for the caller, who releases it when it has no more use for the bytes.
    ///
    /// - Parameters:
    ///   - folder: where its piece belongs.
    ///   - isLasting: see `Key`.
    ///   - access: what its requests may have.
    ///   - standIn: what who asks has to play, if this does not come soon.
    ///   - detour: makes the other ways to it, for a new flight.
    /// - Throws: `store` when there is neither disk nor memory for it.
    func flight(
        _ resource: Resource, folder: PieceFolder, isLasting: Bool, _ keeping: Keeping, access: OriginAccess,
        urgency: Flight.Urgency, standIn: Flight.StandIn,
        detour: () -> Detour
    ) throws(LibraryError) -> Flight {
        let key = Key(folder: ObjectIdentifier(folder), resource: resource, isLasting: isLasting)
        let known = known(key, urgency)
        let flight =
            if let known { known } else { try add(resource, key, folder, keeping, access, urgency, detour()) }
        if urgency == .playback {
            try prepareForReading(flight)
            flight.note(standIn)
        }
        flight.retain(urgency)
        if flight.outcome.map(Self.isFailure) ?? true { flight.start(urgency, by: resource) }
        return flight
    }

    /// The flights of resources of one folder for a download, each retained for the caller: what is under way is
    /// joined, what has a beginning is gone on from, and of the rest neighbours are fetched together.
    ///
    /// - Throws: `store` when there is neither disk nor memory for one of them; none that is new is fetched then.
    func flights(
        _ resources: [Resource], folder: PieceFolder, isLasting: Bool, access: OriginAccess,
        keeping: (Resource) -> Keeping, detour: (Resource) -> Detour
    ) throws(LibraryError) -> [Flight] {
        var (all, new): ([Flight], [Flight]) = ([], [])
        do throws(LibraryError) {
            for resource in resources {
                let key = Key(folder: ObjectIdentifier(folder), resource: resource, isLasting: isLasting)
                let known = known(key, .background)
                let flight =
                    if let known { known } else {
                        try add(resource, key, folder, keeping(resource), access, .background, detour(resource))
                    }
                if known == nil { new.append(flight) }
                flight.retain(.background)
                all.append(flight)
                if flight.outcome.map(Self.isFailure) ?? false { flight.start(.background, by: resource) }
            }
        } catch {
            for flight in new { flight.end(.failure(error)) }
            for flight in all { flight.release() }
            throw error
        }
        Convoy.send(new)
        return all
    }

    /// What is under way or parked already.
    private func known(_ key: Key, _ urgency: Flight.Urgency) -> Flight? {
        guard let known = flights[key] ?? passed(key, urgency) else { return nil }
        if !parked.isEmpty { parked.removeAll { $0 == key } }
        return known
    }

    /// A new flight, which has not begun.
    private func add(
        _ resource: Resource, _ key: Key, _ folder: PieceFolder, _ keeping: Keeping, _ access: OriginAccess,
        _ urgency: Flight.Urgency, _ detour: Detour
    ) throws(LibraryError) -> Flight {
        let flight = try make(resource, key, folder: folder, keeping, access, urgency)
        (flight.detour, flight.isLasting) = (detour, key.isLasting)
        flights[key] = flight
        return flight
    }

    /// Sees that there is a descriptor for a player.
    private func prepareForReading(_ flight: Flight) throws(LibraryError) {
        do {
            try flight.file.materialize()
        } catch {
            throw LibraryError(error, about: Self.noPlace)
        }
    }

    private static let noPlace = "no place for what comes from the origin"

    /// What passed through a moment ago is enough for a player; a download wants a piece, and there may be room now.
    private func passed(_ key: Key, _ urgency: Flight.Urgency) -> Flight? {
        urgency == .playback ? recent[key] : nil
    }

    /// Lets go of whatever belongs to these folders: they are removed. What players still read goes on, and is not
    /// kept.
    func forget(_ folders: [PieceFolder]) {
        let folders = Set(folders.map { ObjectIdentifier($0) })
        recent.remove { folders.contains($0.folder) }
        parked.removeAll { folders.contains($0.folder) }
        for (key, flight) in flights where folders.contains(key.folder) {
            flights[key] = nil
            flight.forgo()
        }
    }

    private func make(
        _ resource: Resource, _ key: Key, folder: PieceFolder, _ keeping: Keeping, _ access: OriginAccess,
        _ urgency: Flight.Urgency
    ) throws(LibraryError) -> Flight {
        let (file, obstacle) = try growingFile(keeping, urgency, in: folder.place)
        var home: PieceFolder?
        if case .kept = keeping { home = folder }
        let flight = Flight(
            resource, folder: home, file: file, obstacle: obstacle, client: client, access: access,
            committer: committer)
        flight.ended = { [weak self] flight in self?.settle(key, flight) }
        return flight
    }

    /// A file that can be kept, if it is to be and the store takes it; else one that cannot, and why.
    private func growingFile(
        _ keeping: Keeping, _ urgency: Flight.Urgency, in place: Volume
    ) throws(LibraryError) -> (GrowingFile, StoreError?) {
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
                if error.code == .diskFull, place.isHome { full() }
            }
        }
        do {
            return (try store.anonymousFile(), obstacle)
        } catch {
            throw LibraryError(error, about: Self.noPlace)
        }
    }

    /// Asks the disk, unless it was asked a moment ago and little has come since.
    private func checkRoom(in place: Volume) throws(StoreError) {
        let now = ContinuousClock.now
        if let lastCheck, lastPlace === place, now - lastCheck < Self.checkLife, arrived < Self.checkBytes { return }
        try store.checkRoom(in: place)
        (lastCheck, lastPlace, arrived) = (now, place, 0)
    }

    private func settle(_ key: Key, _ flight: Flight) {
        arrived += flight.written
        if flight.keepFailure?.code == .diskFull, flight.folder?.place.isHome ?? true { full() }
        guard flights[key] === flight else { return }
        switch flight.outcome {
        case .success:
            flights[key] = nil
            if !flight.isPiece, !flight.isOneOff { recent.insert(flight, key) }
        case .failure where flight.isParked: park(key)
        default: flights[key] = nil
        }
    }

    private func park(_ key: Key) {
        parked.append(key)
        if parked.count > Self.parkedLimit { flights[parked.removeFirst()] = nil }
    }

    private static func isFailure(_ outcome: Result<Void, LibraryError>) -> Bool {
        if case .failure = outcome { true } else { false }
    }
}
