import CLibcurl
import HTTPMessage

/// Explains a failure on the way through a proxy. Names the proxy, never its credentials.
struct ProxyFailure {
    /// Nil if the proxy is not the cause.
    let failure: TransferState.Failure?

    /// - Parameters:
    ///   - answer: the status of the proxy's answer to CONNECT, or 407 for its answer to any request; 0 without one.
    ///   - certificate: OpenSSL's result for the certificate of an HTTPS proxy.
    ///   - words: libcurl's error text.
    init(of proxy: ProxyURL, code: CURLcode, answer: Int, certificate: Int, words: String) {
        let words = words.lowercased()
        let isDenied = ["authentication", "rejected", "not allowed", "no acceptable"].contains { words.contains($0) }
        switch code {
        case _ where answer == 407:
            var cause = "requires credentials: http://USER:PASSWORD@HOST:PORT"
            if proxy.hasCredentials {
                cause = "does not accept the credentials"
            }
            failure = .init(
                code: .proxyRefused, underlying: "the proxy \(proxy) \(cause)", isTransient: false,
                isRefusedByProxy: true)
        case _ where [401, 403, 405].contains(answer):
            failure = .init(
                code: .proxyRefused, underlying: "the proxy \(proxy) does not allow this connection (\(answer))",
                isTransient: false)
        case _ where answer >= 300:
            failure = .init(code: .unreachable, underlying: "the proxy \(proxy) cannot connect (\(answer))")
        // The certificate of the origin is seen only once the proxy has answered.
        case CURLE_PEER_FAILED_VERIFICATION where proxy.kind == .https && answer == 0:
            let cause = ConnectionFailure.proxyCertificate(certificate)
            failure = .init(
                code: .proxyRefused, underlying: "the certificate of the proxy \(proxy) cannot be trusted: \(cause)",
                isTransient: false)
        case CURLE_COULDNT_RESOLVE_PROXY:
            failure = .init(code: .unreachable, underlying: "the name of the proxy \(proxy) could not be resolved")
        case CURLE_COULDNT_CONNECT:
            failure = .init(code: .unreachable, underlying: "the proxy \(proxy) accepts no connection")
        case CURLE_OPERATION_TIMEDOUT:
            failure = .init(code: .unreachable, underlying: "no connection through the proxy \(proxy) in time")
        case CURLE_PROXY where isDenied:
            failure = .init(
                code: .proxyRefused, underlying: "the proxy \(proxy) does not accept the credentials",
                isTransient: false)
        case CURLE_PROXY:
            failure = .init(code: .unreachable, underlying: "the proxy \(proxy) cannot connect")
        default: failure = nil
        }
    }
}
