/// Sessions that received a playlist of an asset and may not have requested a piece yet.
///
/// A session that plays without the origin stays in the list while it plays, because it needs the whole asset. Pure:
/// the caller passes the time.
struct StartingSessions {
    private struct Start {
        let session: String
        let asset: String
        var at: ContinuousClock.Instant
        var isOffline: Bool
    }

    private var all: [Start] = []
    /// Maximum time that a session takes to request its first piece.
    static let life = Duration.seconds(60)
    /// Maximum number of sessions. Further ones replace the earliest, because any client can invent session ids.
    private static let limit = 256

    /// Records that a session received a playlist.
    ///
    /// - Parameter isOffline: true if the session plays from the store alone.
    mutating func add(_ session: String, of asset: String, isOffline: Bool, at now: ContinuousClock.Instant) {
        if let known = all.firstIndex(where: { $0.session == session && $0.asset == asset }) {
            all[known].at = now
            all[known].isOffline = all[known].isOffline || isOffline
            return
        }
        if all.count >= Self.limit { all.removeFirst() }
        all.append(Start(session: session, asset: asset, at: now, isOffline: isOffline))
    }

    /// Adds the media times that the starting sessions of an asset need.
    ///
    /// - Parameter isPlaying: true if a session plays the asset now.
    func addNeeds(
        of asset: String, to times: inout NeededTimes, at now: ContinuousClock.Instant,
        isPlaying: (_ session: String) -> Bool
    ) {
        for start in all where start.asset == asset {
            let isNew = now - start.at < Self.life
            guard isNew || isPlaying(start.session) else { continue }
            if start.isOffline { times.isEverything = true }
            if isNew { times.add(around: 0) }
        }
    }
}
