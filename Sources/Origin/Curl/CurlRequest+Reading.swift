import CLibcurl
import HTTPMessage

/// Reads a body: content codings, and lengths that are wrong.
extension CurlRequest {
    /// Sets how the body is read. libcurl undoes each coding that it knows, once any is named; the names go to the origin
    /// only if compression is wanted.
    func setReading(_ request: OriginRequest) {
        let decodes = isPlain && attempt.manner.decodes
        let coding = decodes ? "gzip" : nil
        _ = weir_easy_set_text(handle, CURLOPT_ACCEPT_ENCODING, coding)
        if decodes, !request.acceptsCompression {
            append("Accept-Encoding:")
        }
        set(CURLOPT_HTTP_CONTENT_DECODING, decodes)
        set(CURLOPT_IGNORE_CONTENT_LENGTH, attempt.manner.ignoresLength)
        if attempt.manner.ignoresLength {
            append("Connection: close")
        }
        set(CURLOPT_VERBOSE, 0)
    }

    /// Passes a body as it is whose coding libcurl does not know: it would refuse that. Both options apply from here on.
    func adaptReading() {
        guard isPlain else { return }
        if reply.coding == .identity {
            set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        }
        // Only libcurl's remarks tell of bytes behind the end. A stream of HTTP/2 is read to its own end.
        if reply.contentLength != nil, !reply.isHTTP2 {
            set(CURLOPT_VERBOSE, 1)
        }
        let isLimited = attempt.url.scheme == .https && !reply.isHTTP2 && !attempt.manner.ignoresLength
        if isLimited, reply.coding == .identity {
            missingByteCount = reply.contentLength
        }
    }

    /// Looks for bytes behind the stated end, once its last byte has come by TLS. libcurl reads no further than that, and what
    /// was decrypted with it stays with OpenSSL.
    func recordArrival(byteCount: Int) {
        guard let missing = missingByteCount else { return }
        missingByteCount = missing - Int64(byteCount)
        if missingByteCount == 0, weir_easy_pending_bytes_of_tls(handle) > 0 {
            isExceeded = true
        }
    }

    func receive(remark: UnsafeRawBufferPointer) {
        if remark.starts(with: "Excess found".utf8) {
            isExceeded = true
        }
    }

    /// True if bytes have arrived on the connection that nothing reads. TLS sends a few bytes of its own.
    var hasUnreadBytes: Bool {
        guard reply.contentLength != nil, !reply.isHTTP2, let multi else { return false }
        // In one call libcurl may end a request and send the next on its connection: the bytes are that one's reply.
        guard !multi.hasOther(on: connectionPort, besides: self, isHTTP1: false) else { return false }
        let harmless = attempt.url.scheme == .http ? 0 : Self.mostBytesOfTLS
        return multi.sockets.hasUnreadBytes(descriptor, moreThan: harmless)
    }

    /// Most bytes that TLS has to send behind a body: the notice of its end, or a ticket.
    private static let mostBytesOfTLS = 2048
}
