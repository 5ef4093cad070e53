import EventLoop
import Origin
import Playheads

/// The background transfers of an origin client, which yield to playheads.
@LoopActor final class OriginTransfers: BackgroundTransfers {
    private let client: OriginClient

    init(_ client: OriginClient) { self.client = client }

    var receivedBytes: Int64 { client.traffic.playback + client.traffic.background }

    var allowance: BackgroundAllowance {
        get { client.backgroundAllowance }
        set { client.backgroundAllowance = newValue }
    }
}
