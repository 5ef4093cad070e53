import CLibcurl

extension OriginClient {
    /// Body bytes received since the start, by priority at arrival.
    public struct Traffic: Sendable {
        /// A player, or the command line.
        public internal(set) var playback: Int64 = 0
        /// A download.
        public internal(set) var background: Int64 = 0
    }

    /// Counts of requests and transfers since the start.
    public struct Activity: Sendable {
        /// Requests sent; each attempt and each redirect counts.
        public internal(set) var requests = 0
        private var counts: [OriginError.Code?: Int] = [:]

        /// The number of transfers per outcome: `success` or an error code. All outcomes, in a fixed order.
        public var outcomes: [(String, Int)] {
            let ended = OriginError.Code.allCases.map { ($0.rawValue, counts[$0, default: 0]) }
            return [("success", counts[nil, default: 0])] + ended
        }

        mutating func ended(_ code: OriginError.Code?) { counts[code, default: 0] += 1 }
    }

    /// The linked libcurl.
    public struct Library: Sendable {
        /// The versions of libcurl and its TLS library: `7.88.1 (OpenSSL/3.0.15)`.
        public let version: String
        /// True with TLS support.
        public let hasTLS: Bool
        /// True if DNS lookups do not block other transfers.
        public let isAsynchronous: Bool
        /// The file with the certificates of the system's authorities; nil if it is not known.
        public let authorities: String?
    }

    /// The linked libcurl.
    public nonisolated static var library: Library {
        guard let information = curl_version_info(weir_curl_version_now)?.pointee else {
            return Library(version: "unknown", hasTLS: false, isAsynchronous: false, authorities: nil)
        }
        let features = Int(information.features)
        var version = String(cString: information.version)
        if let tls = information.ssl_version {
            version += " (\(String(cString: tls)))"
        }
        return Library(
            version: version, hasTLS: features & Int(CURL_VERSION_SSL) != 0,
            isAsynchronous: features & Int(CURL_VERSION_ASYNCHDNS) != 0,
            authorities: information.cainfo.map { String(cString: $0) })
    }

    /// Limits on requests to origins. The defaults are the product's.
    public struct Configuration: Sendable {
        /// When to give up.
        public var giveUpRule = GiveUpRule()
        /// Most consecutive redirects per attempt.
        public var redirectLimit = 10
        /// Most concurrent requests to one (scheme, host, port).
        public var slotsPerHost = 6
        /// Most bytes per second of all background transfers together, beside the allowance; nil for no limit.
        public var backgroundRate: Int64?
        /// Most concurrent requests to one (scheme, host, port) that answers by HTTP/2: streams of one connection.
        public var streamsPerHost = 32
        /// True to offer HTTP/2 by ALPN.
        public var usesHTTP2 = true
        /// Places that playback may take from downloads, and that stay reserved while playback continues; see
        /// `HostQueue`.
        public var slotsInReserve = 1
        /// The default User-Agent.
        public var userAgent = "Weir/1.0"
        /// Most decoded bytes of a body that `fetch` collects, unless the request has a lower limit.
        /// A playlist of 1,000,000 segments has 20 to 60 MB.
        public var playlistLimit: Int64 = 64 << 20
        /// The largest allowed ratio of decoded to compressed size.
        public var compressionRatioLimit: Int64 = 100
        /// libcurl's read buffer for media, in bytes. Playlists use libcurl's default of 16 KB.
        public var bufferSize = 512 * 1024
        /// The proxies of requests. The default names no proxy, as for the control API's own client.
        public var proxies = ProxyRules()
        /// Hosts that may be private, whatever URL leads there.
        public var allowedHosts: [AllowedHost] = []
        /// The path of the file with the certificates of all trusted authorities; nil for libcurl's own.
        public var authorities: String?
        /// Idle connections kept per pool.
        public var idleConnections = 32

        /// The defaults.
        public init() {}
    }
}
