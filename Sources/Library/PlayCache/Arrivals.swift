/// Who was given a playlist of which asset: before a session asks for its first piece that is all that is known of it, and
/// of one that plays without the origin it goes on to count.
///
/// Pure: told what happens and when.
struct Arrivals {
    private struct Arrival {
        let session: String
        let asset: String
        var at: ContinuousClock.Instant
        var isOffline: Bool
    }

    private var all: [Arrival] = []
    /// So long a session may take to ask for its first piece.
    static let life = Duration.seconds(60)
    /// Sessions beyond so many replace those that came first: anyone can make up their ids.
    private static let limit = 256

    /// A session was given a playlist.
    ///
    /// - Parameter isOffline: whether it has nothing but the store.
    mutating func note(_ session: String, of asset: String, isOffline: Bool, at now: ContinuousClock.Instant) {
        if let known = all.firstIndex(where: { $0.session == session && $0.asset == asset }) {
            all[known].at = now
            all[known].isOffline = all[known].isOffline || isOffline
            return
        }
        if all.count >= Self.limit { all.removeFirst() }
        all.append(Arrival(session: session, asset: asset, at: now, isOffline: isOffline))
    }

    /// Takes note of what those need who came to an asset.
    ///
    /// - Parameter isPlaying: whether a session plays the asset at present.
    func addNeeds(
        of asset: String, to windows: inout NeedWindows, at now: ContinuousClock.Instant,
        isPlaying: (_ session: String) -> Bool
    ) {
        for arrival in all where arrival.asset == asset {
            let isNew = now - arrival.at < Self.life
            guard isNew || isPlaying(arrival.session) else { continue }
            if arrival.isOffline { windows.isEverything = true }
            if isNew { windows.add(around: 0) }
        }
    }
}
