import EventLoop

/// The connections, in pools that share none.
///
/// The hosts in the user's own URLs have pools apart from all others: a connection to a private address that was allowed for
/// one asset is never used by a request that may not connect there. Requests that offer HTTP/2 have pools apart, too:
/// libcurl 7.88 may send one of them on a connection of HTTP/1.1 that is in use, if the host has answered by HTTP/2. Requests under the
/// user's limit have pools apart because their connections have small receive buffers for as long as they are open.
@LoopActor struct ConnectionPools {
    private let pools: [CurlMulti]

    init(_ configuration: OriginClient.Configuration) {
        var pools: [CurlMulti] = []
        for _ in 0..<(2 * Self.kinds) {
            pools.append(
                CurlMulti(idleConnections: configuration.idleConnections, bufferSize: configuration.bufferSize))
        }
        self.pools = pools
    }

    private static let kinds = 3

    /// - Parameter isBounded: true for a request under the user's limit, which never offers HTTP/2.
    func pool(mayBePrivate: Bool, offersHTTP2: Bool, isBounded: Bool) -> CurlMulti {
        var index = 0
        if mayBePrivate {
            index += Self.kinds
        }
        if isBounded {
            index += 2
        } else if offersHTTP2 {
            index += 1
        }
        return pools[index]
    }
}
