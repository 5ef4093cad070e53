import CLibcurl
import Glibc
import HTTPMessage

/// Explains why a request failed, and in which stage a request is.
extension CurlRequest {
    func failure(_ code: CURLcode) -> TransferState.Failure {
        if isExcessive {
            return .init(code: .malformedReply, underlying: "its header fields are too long")
        }
        if let refused, openings.isEmpty, socketError == 0 {
            var reason = plan.rights.refusal(of: refused.hostClass, at: refused)
            if rules.isOwn(refused) {
                reason = "it is Weir itself"
            }
            return .init(code: .refusedAddress, underlying: reason, isTransient: false)
        }
        if let failure = connectionFailure(code) {
            return failure
        }

        if socketError != 0 {
            return .init(code: .local, underlying: String(cString: strerror(socketError)))
        }

        var systemError = 0
        _ = weir_easy_get_long(handle, CURLINFO_OS_ERRNO, &systemError)
        var failure = TransferState.Failure(
            code, isHeadComplete: isHeadComplete, systemError: Int32(systemError))
        // The proxy's failure says nothing about the host.
        if plan.proxy != nil {
            failure.hostFault = nil
        }
        return failure
    }

    /// Explains failures of a proxy and of TLS; nil for any other.
    private func connectionFailure(_ code: CURLcode) -> TransferState.Failure? {
        let words = String(cString: errorText)
        if let proxy = plan.proxy {
            let certificate = information(CURLINFO_PROXY_SSL_VERIFYRESULT)
            let cause = ProxyFailure(
                of: proxy, code: code, answer: proxyAnswer, certificate: certificate, words: words)
            if var failure = cause.failure {
                failure.isDigestOffered = information(CURLINFO_PROXYAUTH_AVAIL) & Self.digest != 0
                return failure
            }
        }
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            let cause = ConnectionFailure.certificate(information(CURLINFO_SSL_VERIFYRESULT))
            return .init(code: .untrustedCertificate, underlying: cause, isTransient: false)
        case CURLE_SSL_CERTPROBLEM:
            var file = "the client certificate"
            if case .shown(let path, _) = plan.certificate {
                file = path
            }
            let reason = "\(file) and its key cannot be used. Check --cert and --key"
            return .init(code: .local, underlying: reason, isTransient: false)
        case CURLE_SSL_CONNECT_ERROR, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            guard !isHeadComplete, let cause = ConnectionFailure.handshake(words, with: plan.certificate) else {
                guard code != CURLE_SSL_CONNECT_ERROR else { return nil }
                return lostAfterHandshake
            }
            return .init(code: .handshakeRefused, underlying: cause, isTransient: false)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL:
            let fault = ConnectionFailure.malformedHead(words)
            // The rest of an earlier reply on the connection looks like a malformed head too.
            return .init(
                code: .malformedReply, underlying: fault.cause, isTransient: isOnUsedConnection,
                hasInvalidLength: fault.isLength)
        case CURLE_GOT_NOTHING: return lostAfterHandshake
        case CURLE_OPERATION_TIMEDOUT: return .init(code: .unreachable, underlying: lateConnection)
        default: return nil
        }
    }

    /// With TLS 1.3 a server judges the client's certificate after the handshake has ended for the client, and its alert
    /// may be lost with the connection.
    private var lostAfterHandshake: TransferState.Failure? {
        guard !isHeadComplete, !plan.certificate.isShown, information(CURLINFO_NUM_CONNECTS) > 0 else { return nil }
        var time = curl_off_t(0)
        _ = weir_easy_get_offset(handle, CURLINFO_APPCONNECT_TIME_T, &time)
        guard time > 0 else { return nil }
        return .init(
            code: .connectionLost,
            underlying:
                "it ended just after the TLS handshake. The server may require a client certificate. \(plan.certificate.advice)"
        )
    }

    /// The proxy's answer to CONNECT; 0 without one.
    private var proxyAnswer: Int {
        guard !isRefusedByProxy else { return 407 }
        return information(CURLINFO_HTTP_CONNECTCODE)
    }

    private func information(_ info: CURLINFO) -> Int {
        var value = 0
        _ = weir_easy_get_long(handle, info, &value)
        return value
    }

    // MARK: Stages

    /// The stage of the attempt, before its reply begins.
    var stage: GiveUpRule.Stage {
        if readyAt != nil {
            return isAcknowledged ? .waiting : .sending
        }
        guard !openings.isEmpty, !isConnected else { return .handshaking }
        return .connecting
    }

    /// True if TCP is connected. libcurl reports the time of it only after the TLS handshake. Another request may have the
    /// number of a socket that libcurl has closed, so the address is compared.
    private var isConnected: Bool {
        openings.contains { SocketAddress(peerOf: $0.descriptor) == $0.address }
    }

    /// Limits the time for TCP; the watchdog of the transfer has the same limit, and decides first. libcurl gives each
    /// address but the last of its family half of the time that is left.
    func setConnecting(_ rule: GiveUpRule) {
        set(CURLOPT_CONNECTTIMEOUT_MS, Int((rule.connectLimit + Self.margin) / .milliseconds(1)))
    }

    /// Extends libcurl's limit, which includes the handshake, once TCP is connected. libcurl reads it at each step.
    func setHandshaking(_ rule: GiveUpRule) {
        let limit = rule.connectLimit + rule.handshakeLimit + Self.margin * 2
        set(CURLOPT_CONNECTTIMEOUT_MS, Int(limit / .milliseconds(1)))
    }

    private static let margin = Duration.milliseconds(250)

    /// The failure of an attempt whose time for its stage has passed.
    func failureOfLate(_ stage: GiveUpRule.Stage) -> TransferState.Failure {
        guard stage.isSilence else { return .init(code: .unreachable, underlying: lateConnection) }
        return .init(code: .timedOut, underlying: "no reply in time")
    }

    private var lateConnection: String {
        if let proxy = plan.proxy {
            return "no connection through the proxy \(proxy) in time"
        }
        let tried = openings.map(\.address.literal).joined(separator: ", ")
        if tried.isEmpty {
            return "no connection in time"
        }
        guard isConnected else { return "no connection in time to \(tried)" }
        return "no TLS handshake in time with \(tried)"
    }

    /// The addresses that a failure of the request concerns; none through a proxy.
    var failingAddresses: [SocketAddress] {
        guard plan.proxy == nil else { return [] }
        guard let connected else { return openings.map(\.address) }
        return [connected]
    }

    /// How it has connected.
    var use: ConnectionMemory.Use {
        ConnectionMemory.Use(
            origin: attempt.url.origin, connected: connected, addresses: addresses,
            isOnUsedConnection: isOnUsedConnection)
    }

    /// The addresses that were tried before the one that is used.
    var lostAddresses: [SocketAddress] {
        guard plan.proxy == nil, let connected else { return [] }
        return openings.map(\.address).filter { $0 != connected }
    }
}

extension SocketAddress {
    /// The address to which a socket is connected; nil for any other descriptor.
    fileprivate init?(peerOf descriptor: Int32) {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isConnected = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) == 0 }
        }
        guard isConnected else { return nil }
        let family = Int32(storage.ss_family)
        guard let address = withUnsafeBytes(of: storage, { SocketAddress(family: family, $0) }) else { return nil }
        self = address
    }
}
