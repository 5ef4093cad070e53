import CLibcurl
import HTTPMessage

/// HTTP/2: what is offered, and what its replies show.
extension CurlRequest {
    /// Sets the versions that the request offers. libcurl offers HTTP/2 by ALPN, over TLS alone.
    func setVersion(_ settings: Settings) {
        set(CURLOPT_HTTP_VERSION, Int(offersHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
        set(CURLOPT_PIPEWAIT, offersHTTP2 && settings.mayShareConnection ? 1 : 0)
    }

    /// True if the request is one of several on its connection, or may turn out to be. Such a request is never paused:
    /// libcurl would keep all that arrives for it in memory, without limit.
    var mayBeMultiplexed: Bool { offersHTTP2 && (reply.isHTTP2 || !isHeadComplete) }

    /// `connectionPort`, if the request shares its connection; nil if not.
    var sharedPort: Int32? { mayBeMultiplexed && connectionPort > 0 ? connectionPort : nil }

    /// The fault of HTTP/2 behind a result code, by libcurl's words; nil if HTTP/2 did not fail.
    func http2Fault(_ code: CURLcode, _ words: String) -> HTTPVersions.Fault? {
        guard offersHTTP2 else { return nil }
        switch code {
        case CURLE_HTTP2: return .framing
        case CURLE_HTTP2_STREAM: return words.contains("HTTP_1_1_REQUIRED") ? .http1Required : .stream
        // libcurl calls an error of nghttp2 a failure to send or to receive.
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR: return words.contains("nghttp2") ? .framing : .connection
        // Lost connections have other words; these tell of one that nghttp2 has ended, after frames out of order.
        case CURLE_PARTIAL_FILE where reply.isHTTP2:
            return words.hasPrefix("transfer closed with") ? .framing : .connection
        case CURLE_GOT_NOTHING: return .connection
        default: return nil
        }
    }

    /// Records what became of the connection. libcurl reports a connection that ends by a fault of HTTP/2 as the end of a body
    /// that has no length. Call when the request has ended and is still in its handle.
    func recordConnection() {
        guard reply.isHTTP2 else { return }
        var socket = CURL_SOCKET_BAD
        hasLeftConnectionIntact = weir_easy_get_socket(handle, &socket) == CURLE_OK && socket != CURL_SOCKET_BAD
        lacksProofOfEnd = !hasLeftConnectionIntact && reply.contentLength == nil
    }
}

extension TransferState.Failure {
    /// A body whose connection ended with it.
    static var unproven: Self {
        Self(
            code: .cutShort, underlying: "it has no stated length, and its connection ended with it",
            http2Fault: .stream)
    }

    func with(_ fault: HTTPVersions.Fault?) -> Self {
        var failure = self
        failure.http2Fault = fault
        return failure
    }
}
