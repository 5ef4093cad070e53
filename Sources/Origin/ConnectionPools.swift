import EventLoop

/// The connections, in pools that share none.
///
/// The hosts in the user's own URLs have pools apart from all others: a connection to a private address that was allowed for
/// one asset is never used by a request that may not connect there. Requests that offer HTTP/2 have pools apart, too:
/// libcurl 7.88 may send one of them on a connection of HTTP/1.1 that is in use, if the host has answered by HTTP/2.
@LoopActor struct ConnectionPools {
    private let pools: [CurlMulti]

    init(_ configuration: OriginClient.Configuration) {
        var pools: [CurlMulti] = []
        for _ in 0..<4 {
            pools.append(
                CurlMulti(idleConnections: configuration.idleConnections, bufferSize: configuration.bufferSize))
        }
        self.pools = pools
    }

    func pool(mayBePrivate: Bool, offersHTTP2: Bool) -> CurlMulti {
        var index = 0
        if mayBePrivate {
            index += 2
        }
        if offersHTTP2 {
            index += 1
        }
        return pools[index]
    }
}
