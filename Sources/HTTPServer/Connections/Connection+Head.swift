import HTTPMessage

extension Connection {
    /// Serializes a head into the server's buffer. If it does not fit, a handler's bug, the client gets 500.
    func compose(_ head: ResponseHead, length: Int64?) -> ReplyFraming {
        let framing = ReplyFraming(
            method: facts.method, version: facts.version, status: head.status, length: length,
            mayKeep: facts.mayKeep && !core.isStopping)
        core.date.refresh()
        write(head, framing, date: core.date.line, into: core.buffer)
        guard !core.buffer.hasOverflowed, core.buffer.count <= ReplyBuffer.capacity - ReplyBuffer.smallBody else {
            return compose(ResponseHead(.internalServerError), length: 0)
        }
        reply.framing = framing
        reply.status = head.status.code
        return framing
    }

    private func write(
        _ head: ResponseHead, _ framing: ReplyFraming, date: [UInt8], into buffer: ReplyBuffer
    ) {
        buffer.clear()
        buffer.append("HTTP/1.1 ")
        buffer.append(number: Int64(head.status.code))
        buffer.append(" ")
        buffer.append(head.status.reason)
        buffer.append("\r\n")
        buffer.append(date)
        buffer.append("X-Content-Type-Options: nosniff\r\n")
        buffer.append(head.fieldBytes)

        if let origin = facts.origin {
            buffer.append("Access-Control-Allow-Origin: ")
            buffer.append(origin)
            buffer.append(
                "\r\nAccess-Control-Expose-Headers: Accept-Ranges, Cache-Status, Content-Length, Content-Range, ETag\r\n"
            )
        }
        if requestGuard.variesByOrigin {
            buffer.append("Vary: Origin\r\n")
        }

        write(framing, into: buffer)
        buffer.append("\r\n")
    }

    private func write(_ framing: ReplyFraming, into buffer: ReplyBuffer) {
        switch framing.delimiter {
        case .length(let length):
            buffer.append("Content-Length: ")
            buffer.append(number: length)
            buffer.append("\r\n")
        case .chunks: buffer.append("Transfer-Encoding: chunked\r\n")
        case .absent, .close: break
        }
        if !framing.keepsConnection {
            buffer.append("Connection: close\r\n")
        } else if facts.version == .http10 {
            buffer.append("Connection: keep-alive\r\n")
        }
    }
}

/// The delimiter of a reply's body (RFC 9112 §6.3), and the connection's persistence after it.
struct ReplyFraming: Equatable {
    enum Delimiter: Equatable {
        /// No body and no field about one (204, 304).
        case absent
        case length(Int64)
        case chunks
        /// Connection close: HTTP/1.0 has no chunks.
        case close
    }

    let delimiter: Delimiter
    /// False for HEAD, and if the status forbids a body.
    let sendsBody: Bool
    let keepsConnection: Bool

    init(method: HTTPMethod, version: HTTPVersion, status: HTTPStatus, length: Int64?, mayKeep: Bool) {
        if status.forbidsBody {
            delimiter = .absent
            sendsBody = false
            keepsConnection = mayKeep
        } else if let length {
            delimiter = .length(length)
            sendsBody = method != .head && length > 0
            keepsConnection = mayKeep
        } else if method == .head {
            delimiter = .absent
            sendsBody = false
            keepsConnection = mayKeep
        } else if version == .http11 {
            delimiter = .chunks
            sendsBody = true
            keepsConnection = mayKeep
        } else {
            delimiter = .close
            sendsBody = true
            keepsConnection = false
        }
    }
}
