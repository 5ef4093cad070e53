import HTTPMessage

/// Serialization of reply heads.
extension Connection {
    /// Serializes a head into the server's buffer. A head that does not fit is a bug of the handler: the client gets
    /// 500 without a body.
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
        if requestGuard.variesByOrigin { buffer.append("Vary: Origin\r\n") }
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
