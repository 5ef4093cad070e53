import EventLoop

/// Limits how many mirrors one request asks: a playlist may name thousands, and each is another host.
@LoopActor final class MirrorPace {
    /// So many are asked one after the other.
    nonisolated static let quick = 8
    private static let longestPause = Duration.seconds(60)
    private static let step = Duration.seconds(1)
    /// The mirrors that were asked; the request began with one.
    private var visits = 1

    nonisolated init() {}

    /// Returns true once another mirror may be asked; false if nobody waits for it any more.
    func mayVisit(while isAwaited: @LoopActor () -> Bool) async -> Bool {
        visits += 1
        var left = Self.pause(before: visits)
        while left > .zero, isAwaited() {
            let span = min(left, Self.step)
            guard (try? await LoopActor.pause(for: span)) != nil else { return false }
            left -= span
        }
        return isAwaited()
    }

    /// The pause before the n-th mirror: none for the first ones, then 1 s, 2 s, 4 s up to a minute.
    static func pause(before visit: Int) -> Duration {
        guard visit > quick else { return .zero }
        return min(longestPause, .seconds(1 << min(visit - quick - 1, 6)))
    }
}
