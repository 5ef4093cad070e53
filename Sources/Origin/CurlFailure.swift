import CLibcurl
import Glibc

extension TransferState.Failure {
    /// Translates libcurl's result codes; no other code interprets them.
    ///
    /// - Parameter systemError: the error number (errno(3)); 0 if unknown.
    init(_ code: CURLcode, isHeadComplete: Bool, systemError: Int32) {
        let text = String(cString: curl_easy_strerror(code))
        underlying = systemError == 0 ? text : String(cString: strerror(systemError))
        isTransient = true
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            self.code = .unreachable
            underlying = "its name could not be resolved"
        case CURLE_COULDNT_CONNECT, CURLE_SSL_CONNECT_ERROR: self.code = .unreachable
        // Connecting is the only time limit that libcurl enforces.
        case CURLE_OPERATION_TIMEDOUT:
            self.code = .unreachable
            underlying = "no connection in time"
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_SSL_CACERT_BADFILE:
            self.code = .untrustedCertificate
            underlying = text
            isTransient = false
        case CURLE_PARTIAL_FILE: self.code = .cutShort
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR:
            self.code = isHeadComplete ? .cutShort : .connectionLost
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING:
            self.code = .malformedReply
        default:
            self.code = .local
            isTransient = false
        }
    }
}
