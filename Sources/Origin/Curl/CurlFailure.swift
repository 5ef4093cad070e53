import CLibcurl
import Glibc

extension TransferState.Failure {
    /// Translates libcurl's result codes; no other code interprets them. `systemError` is an errno(3); 0 if unknown.
    init(_ code: CURLcode, isHeadComplete: Bool, systemError: Int32) {
        if systemError == 0 {
            underlying = String(cString: curl_easy_strerror(code))
        } else {
            underlying = String(cString: strerror(systemError))
        }
        isTransient = true
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            self.code = .unreachable
            underlying = "its name could not be resolved"
        case CURLE_COULDNT_CONNECT:
            self.code = .unreachable
            hostFault = HostReach.Fault(connecting: systemError)
        case CURLE_SSL_CONNECT_ERROR: self.code = .unreachable
        case CURLE_SSL_CACERT_BADFILE:
            self.code = .untrustedCertificate
            underlying = "the certificates of the authorities cannot be read. Check ca-file and SSL_CERT_FILE"
            isTransient = false
        case CURLE_PARTIAL_FILE: self.code = .cutShort
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            self.code = isHeadComplete ? .cutShort : .connectionLost
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL: self.code = .malformedReply
        // A line of the head is longer than libcurl takes. Since version 8.6 it has a code of its own.
        case CURLE_OUT_OF_MEMORY, Self.tooLarge:
            self.code = .malformedReply
            underlying = "a line of its head is too long"
        case CURLE_BAD_CONTENT_ENCODING: self.code = .unsupportedEncoding
        // Not refused here: libcurl's decoder gets bytes behind the end of the compressed ones.
        case CURLE_WRITE_ERROR:
            self.code = .unsupportedEncoding
            isTransient = false
        default:
            self.code = .local
            isTransient = false
        }
    }

    /// CURLE_TOO_LARGE, which the headers of older versions lack.
    private static let tooLarge = CURLcode(rawValue: 100)
}

extension HostReach.Fault {
    /// The fault that an error of connect(2) shows; nil for any other error.
    fileprivate init?(connecting systemError: Int32) {
        switch systemError {
        case ECONNREFUSED: self = .refusal
        case ENETUNREACH, EHOSTUNREACH: self = .noWay
        default: return nil
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
        case 66, 67:
            "its key is too short to be safe. Ask the server's owner for a key of 2,048 bits, or if you trust the server, "
                + "add --insecure"
        default: "it is not valid (OpenSSL's error \(result)). If you trust the server, add --insecure"
        }
    }

    /// The cause of a proxy's certificate that was not accepted; `--insecure` does not concern it.
    static func proxyCertificate(_ result: Int) -> String {
        switch result {
        case 0, 1: "it is for another host name. Check the name of the proxy"
        case 9: "it is not valid yet. Check this machine's clock"
        case 10: "it has expired. Only the proxy's owner can renew it; check this machine's clock"
        case 2, 18...21:
            "no known authority has signed it. Give the authority's certificate with the key ca-file "
                + "(weir serve --ca-file FILE)"
        default: "it is not valid (OpenSSL's error \(result))"
        }
    }

    /// The fault of a head that libcurl refuses, by its words; `isLength` if the body can be read all the same.
    static func malformedHead(_ words: String) -> (cause: String, isLength: Bool) {
        let known = words.lowercased()
        if known.contains("content-length") {
            return ("its Content-Length is not a number", true)
        }
        if known.contains("header without colon") {
            return ("a line of its header has no colon. Ask the server's owner to correct it", false)
        }
        if known.contains("nul byte") {
            return ("its header contains a NUL byte. Ask the server's owner to correct it", false)
        }
        if known.contains("http/0.9") {
            return ("it does not begin with a status line of HTTP. Check the port in the URL", false)
        }
        guard !words.isEmpty else { return ("its header cannot be read", false) }
        return (words, false)
    }

    /// The cause of a refused TLS handshake by OpenSSL's words; nil if they tell of a broken connection.
    static func handshake(_ words: String, with certificate: CertificateUse) -> String? {
        let words = words.lowercased()

        if words.contains("certificate required") || words.contains("bad certificate") || words.contains("unknown ca") {
            guard certificate.isShown else {
                return "the server requires a client certificate. \(certificate.advice)"
            }
            return "the server does not accept the client certificate. \(certificate.advice)"
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
            guard certificate.isShown else {
                return
                    "the server refuses the TLS handshake: it may require a client certificate. \(certificate.advice)"
            }
            return "the server refuses the TLS handshake. \(certificate.advice)"
        }
        return nil
    }
}
