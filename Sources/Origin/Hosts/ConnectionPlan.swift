import CLibcurl
import Glibc
import HTTPMessage

/// How one attempt connects: through a proxy or directly, to which addresses, and by which certificates.
struct ConnectionPlan {
    var proxy: ProxyURL?
    var rights: AddressRights
    var isInsecure = false
    var certificate = CertificateUse.none
    /// See `OriginRequest.socket`.
    var socket: String?

    init(_ rights: AddressRights) { self.rights = rights }

    /// True if a handle with these options must not serve another request.
    var hasOwnOptions: Bool { proxy != nil || isInsecure || certificate.isShown || socket != nil }

    /// The name that is resolved before the attempt connects; nil if there is none, or if another party resolves it: the
    /// proxy, or libcurl for names of this machine, which no resolver is asked for (RFC 6761 §6.3).
    var name: String? {
        let host = rights.peer.host
        guard proxy?.kind.resolvesNames != true, SocketAddress(loose: host, port: 0) == nil,
            !HostClass.isLoopbackName(host)
        else { return nil }
        return host
    }

    /// The name of the user's host, if its addresses decide whether the attempt may connect.
    var nameToCompare: String? {
        guard proxy == nil, rights.namedAddresses.isEmpty, !rights.isNamedHost, let named = rights.namedPeer?.host,
            HostClass(ofName: rights.peer.host) != .public, SocketAddress.known(of: named) == nil
        else { return nil }
        return named
    }

    /// The reason why nothing may be sent; nil if the attempt may connect. Through a proxy the name alone is judged,
    /// because the proxy resolves it.
    func refusal(by rules: AddressRules) -> String? {
        guard proxy != nil else { return nil }
        let address = SocketAddress(loose: rights.peer.host, port: rights.peer.port)
        let kind = HostClass(ofName: rights.peer.host)
        if let address, !rules.isPossible(address) {
            return rights.refusal(of: kind, at: address)
        }
        guard !rights.allows(kind, at: address) else { return nil }
        return rights.refusal(of: kind, at: address)
    }

    func apply(to handle: UnsafeMutableRawPointer) {
        func set(_ option: CURLoption, _ value: String?) { _ = weir_easy_set_text(handle, option, value) }
        func set(_ option: CURLoption, _ value: Int) { _ = weir_easy_set_long(handle, option, value) }

        if let proxy {
            set(CURLOPT_PROXY, "\(proxy.kind.rawValue)://\(WebURL.bracketed(proxy.host)):\(proxy.port)")
            set(CURLOPT_PROXYUSERNAME, proxy.user)
            var password: String?
            if proxy.user != nil {
                password = proxy.password ?? ""
            }
            set(CURLOPT_PROXYPASSWORD, password)
        }

        if let socket {
            set(CURLOPT_UNIX_SOCKET_PATH, socket)
        }
        if isInsecure {
            set(CURLOPT_SSL_VERIFYPEER, 0)
            set(CURLOPT_SSL_VERIFYHOST, 0)
        }

        if case .shown(let path, let key) = certificate {
            set(CURLOPT_SSLCERT, path)
            set(CURLOPT_SSLKEY, key)
        }
    }
}
