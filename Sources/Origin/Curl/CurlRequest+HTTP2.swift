import CLibcurl
import HTTPMessage

/// HTTP/2: what is offered, and what its replies show.
extension CurlRequest {
    /// Sets the versions that the request offers. libcurl offers HTTP/2 by ALPN, over TLS alone.
    func setVersion(_ settings: Settings) {
        let version = offersHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
        set(CURLOPT_HTTP_VERSION, Int(version))
        set(CURLOPT_PIPEWAIT, offersHTTP2 && settings.mayShareConnection)
    }

    /// Lets libcurl read a stream up to its end: with a length it stops there, and does not see more bytes, or that the end is
    /// missing. nghttp2 compares the length with the stream in any case (RFC 9113 §8.1.1). For use once the version is known,
    /// before the other header fields.
    func readToEndOfStream() {
        if readsToEndOfStream {
            set(CURLOPT_IGNORE_CONTENT_LENGTH, 1)
        }
    }

    /// Only a reply to GET has as many bytes as it states.
    private var readsToEndOfStream: Bool { isGet && reply.isHTTP2 }

    /// True if a stream has ended before its length: libcurl 7.88 reports a connection that nghttp2 has ended so.
    var isShortStream: Bool {
        guard readsToEndOfStream, ![204, 304].contains(reply.status), let length = reply.contentLength else {
            return false
        }
        return encodedByteCount < length
    }

    /// True if nghttp2 has reset a stream whose bytes are more or fewer than its length.
    func contradictsLength(_ code: CURLcode, _ words: String) -> Bool {
        code == CURLE_HTTP2_STREAM && readsToEndOfStream && isHeadComplete && reply.contentLength != nil
            && words.contains("PROTOCOL_ERROR")
    }

    /// True if the request is one of several on its connection, or may turn out to be. Such a request is never paused:
    /// libcurl would keep all that arrives for it in memory, without limit.
    var mayBeMultiplexed: Bool { offersHTTP2 && (reply.isHTTP2 || !isHeadComplete) }

    /// `connectionPort`, if the request shares its connection; nil if not.
    var sharedPort: Int32? {
        guard mayBeMultiplexed, connectionPort > 0 else { return nil }
        return connectionPort
    }

    /// The fault of HTTP/2 behind a result code, by libcurl's words; nil if HTTP/2 did not fail.
    func http2Fault(_ code: CURLcode, _ words: String) -> HTTPVersions.Fault? {
        guard offersHTTP2 else { return nil }
        switch code {
        case CURLE_HTTP2: return .framing
        case CURLE_HTTP2_STREAM where words.contains("HTTP_1_1_REQUIRED"): return .http1Required
        case CURLE_HTTP2_STREAM: return .stream
        // libcurl calls an error of nghttp2 a failure to send or to receive.
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR:
            guard words.contains("nghttp2") else { return .connection }
            return .framing
        // Lost connections have other words; these tell of one that nghttp2 has ended, after frames out of order. Beside other
        // streams they may tell of a reset one. Any stream may be the one that finds the end, also one without a head.
        case CURLE_PARTIAL_FILE where mayBeMultiplexed:
            guard words.hasPrefix("transfer closed with") else { return .connection }
            return faultOfEndedSession
        case CURLE_GOT_NOTHING: return .connection
        default: return nil
        }
    }

    /// The fault of a connection that nghttp2 has ended.
    var faultOfEndedSession: HTTPVersions.Fault {
        guard hasCompanion(isHTTP1: false) else { return .framing }
        return .connection
    }

    /// True if nothing has arrived on the shared connection since the request was sent, at least for this long.
    func isSilent(for span: Duration) -> Bool {
        guard let port = sharedPort, let readyAt, .now - readyAt >= span else { return false }
        guard let last = multi?.lastArrival(on: port), last > readyAt else { return true }
        return .now - last >= span
    }

    /// True if both are on one connection.
    func shares(_ other: CurlRequest) -> Bool {
        sharedPort != nil && sharedPort == other.sharedPort && multi === other.multi
            && attempt.url.origin == other.attempt.url.origin
    }

    /// True if another request is on the connection; with `isHTTP1` only one that is known to be by HTTP/1.1.
    func hasCompanion(isHTTP1: Bool) -> Bool {
        offersHTTP2 && multi?.hasOther(on: connectionPort, besides: self, isHTTP1: isHTTP1) ?? false
    }
}

extension TransferState.Failure {
    /// libcurl has sent the request on a connection that was in use (`collision`), or a second time (`http1Required`).
    static func misdirected(_ fault: HTTPVersions.Fault) -> Self {
        let cause = fault == .collision ? "the connection was in use" : "the origin requires HTTP/1.1"
        return Self(code: .connectionLost, underlying: cause, http2Fault: fault)
    }

    func with(_ fault: HTTPVersions.Fault?) -> Self {
        var failure = self
        failure.http2Fault = fault
        return failure
    }
}
