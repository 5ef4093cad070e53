import EventLoop
import Fetching
import Origin

/// Watches a fetch of which nothing is sent yet, and fires when it makes no progress: see `GiveUpRule`.
@LoopActor final class StallWatch {
    private var timer: LoopTimer?
    private var written: Int64
    private var since = ContinuousClock.now

    init(of fetch: Fetch, _ action: @escaping @LoopActor () -> Void) {
        written = fetch.written
        timer = LoopTimer { [unowned self, unowned fetch] in
            if written != fetch.written {
                written = fetch.written
                since = .now
            }
            if GiveUpRule.decision(withoutProgressFor: .now - since) == .substitute {
                return action()
            }
            timer?.schedule(after: GiveUpRule.stallCheck)
        }
        timer?.schedule(after: GiveUpRule.stallCheck)
    }

    func cancel() { timer = nil }
}
