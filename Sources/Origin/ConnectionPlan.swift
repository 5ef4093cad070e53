import CLibcurl
import Glibc
import HTTPMessage

/// How one attempt connects: through a proxy or directly, to which addresses, and by which certificates.
struct ConnectionPlan {
    var proxy: ProxyURL?
    var rights: AddressRights
    var isInsecure = false
    var certificate: String?
    var key: String?

    init(_ rights: AddressRights) { self.rights = rights }

    /// True if a handle with these options must not serve another request.
    var hasOwnOptions: Bool { proxy != nil || isInsecure || certificate != nil }

    /// The reason why nothing may be sent; nil if the attempt may connect. Through a proxy the name alone is judged,
    /// because the proxy resolves it.
    func refusal(by rules: AddressRules) -> String? {
        guard proxy != nil else { return nil }
        let address = SocketAddress(loose: rights.peer.host, port: rights.peer.port)
        let kind = HostClass(ofName: rights.peer.host)
        if let address, !rules.isPossible(address) { return rights.refusal(of: kind, at: address) }
        return rights.allows(kind, at: address) ? nil : rights.refusal(of: kind, at: address)
    }

    func apply(to handle: UnsafeMutableRawPointer) {
        func set(_ option: CURLoption, _ value: String?) { _ = weir_easy_set_text(handle, option, value) }
        func set(_ option: CURLoption, _ value: Int) { _ = weir_easy_set_long(handle, option, value) }
        if let proxy {
            let host = proxy.host.contains(":") ? "[\(proxy.host)]" : proxy.host
            set(CURLOPT_PROXY, "\(proxy.kind.rawValue)://\(host):\(proxy.port)")
            set(CURLOPT_PROXYUSERNAME, proxy.user)
            set(CURLOPT_PROXYPASSWORD, proxy.user == nil ? nil : proxy.password ?? "")
        }
        if isInsecure {
            set(CURLOPT_SSL_VERIFYPEER, 0)
            set(CURLOPT_SSL_VERIFYHOST, 0)
        }
        if let certificate {
            set(CURLOPT_SSLCERT, certificate)
            set(CURLOPT_SSLKEY, key ?? certificate)
        }
    }
}

/// Explains failures of connecting, in words with the next step.
enum ConnectionFailure {
    /// The cause of a certificate that was not accepted. `result` is OpenSSL's (x509_vfy.h); 0 for a name that differs.
    static func certificate(_ result: Int) -> String {
        switch result {
        // libcurl compares the name itself, and leaves its initial value.
        case 0, 1:
            "it is for another host name. Check the URL, or if you trust the server, add --insecure"
        case 9: "it is not valid yet. Check this machine's clock"
        case 10:
            "it has expired. Only the server's owner can renew it; check this machine's clock, or if you trust the server, "
                + "add --insecure"
        case 18, 19:
            "no known authority has signed it. If it is your own authority's, give that authority's certificate with the "
                + "key ca-file (weir serve --ca-file FILE), or add --insecure"
        case 2, 20, 21:
            "no known authority has signed it: the server leaves out an intermediate certificate, or the authority is "
                + "private. Give the missing certificate with the key ca-file (weir serve --ca-file FILE), or add --insecure"
        case 23: "it has been revoked"
        default: "it is not valid (OpenSSL's error \(result)). If you trust the server, add --insecure"
        }
    }

    /// The cause of a refused TLS handshake by OpenSSL's words; nil if they tell of a broken connection.
    static func handshake(_ words: String, hasCertificate: Bool) -> String? {
        let words = words.lowercased()
        if words.contains("certificate required") || words.contains("bad certificate") || words.contains("unknown ca") {
            return hasCertificate
                ? "the server does not accept the client certificate. Check --cert and --key"
                : "the server requires a client certificate. Give one with --cert and --key"
        }
        if words.contains("wrong version number") || words.contains("http request") {
            return "the server does not speak TLS on this port. Check the URL: it may be http"
        }
        if words.contains("unsupported protocol") || words.contains("legacy sigalg")
            || words.contains("alert protocol version")
            || words.contains("version too low")
        {
            return
                "the server offers no TLS version that is still safe: Weir needs TLS 1.2 or 1.3. Ask its owner to update it"
        }
        if words.contains("alert") {
            return hasCertificate
                ? "the server refuses the TLS handshake. Check --cert and --key"
                : "the server refuses the TLS handshake: it may require a client certificate (--cert and --key)"
        }
        return nil
    }
}
