import CLibevent
import EventLoop
import Glibc
import HTTPMessage

/// What is left to be sent of a reply, and what was.
struct ReplyProgress {
    /// Where the rest comes from.
    enum Source {
        /// Nothing but what is queued.
        case queued
        /// Memory, from an offset on.
        case bytes([UInt8], offset: Int)
        /// A file that grows.
        case growing(any GrowingBody, GrowingProgress)
    }

    var source = Source.queued
    var framing: ReplyFraming?
    var status: Int?
    /// Bytes of the body that were sent or queued.
    var bodyBytes: Int64 = 0
    /// Whether to wait for the client to close, so that it can read the reply first.
    var lingers = false
}

extension Connection {
    /// Begins the reply to request number `serial`. Too late or twice: does nothing.
    func reply(_ head: ResponseHead, _ body: consuming ReplyBody, serial: Int) {
        guard phase == .handling, serial == self.serial else { return }
        phase = .replying
        switch consume body {
        case .none:
            _ = compose(head, length: 0)
            sendComposed()
        case .bytes(let bytes): begin(head, bytes)
        case .file(let file, let offset, let length): begin(head, file, offset: offset, length: length)
        case .growing(let body, let offset, let length): begin(head, body, offset: offset, length: length)
        }
        pump()
    }

    private func begin(_ head: ResponseHead, _ bytes: [UInt8]) {
        guard compose(head, length: Int64(bytes.count)).sendsBody else { return sendComposed() }
        if bytes.count <= ReplyBuffer.smallBody {
            core.buffer.append(bytes)
            reply.bodyBytes = Int64(bytes.count)
            sendComposed()
        } else {
            sendComposed(more: true)
            reply.source = .bytes(bytes, offset: 0)
        }
    }

    private func begin(_ head: ResponseHead, _ file: consuming OwnedDescriptor, offset: Int64, length: Int64) {
        guard compose(head, length: length).sendsBody else { return sendComposed() }
        if length <= ReplyBuffer.smallBody {
            guard core.buffer.appendFile(file.rawValue, offset: offset, length: Int(length)) else {
                return failUnsent()
            }
            reply.bodyBytes = length
            sendComposed()
        } else {
            sendComposed(more: true)
            sendFile(file.release(), offset..<offset + length, closes: true)
        }
    }

    private func begin(_ head: ResponseHead, _ body: any GrowingBody, offset: Int64, length: Int64?) {
        let framing = compose(head, length: length)
        guard framing.sendsBody else { return sendComposed() }
        var progress = GrowingProgress(offset: offset, length: length)
        if let fresh = fresh(of: body, progress) {
            progress.advance(by: sendComposed(with: fresh))
        } else {
            sendComposed(more: body.written > offset)
        }
        reply.source = .growing(body, progress)
        body.subscribe(self) { self.pump() }
    }

    /// Nothing has left yet, so the client can still be told that the body is not there.
    private func failUnsent() {
        var head = ResponseHead(.internalServerError)
        head.append(.text)
        let text: [UInt8] = Array("The file is shorter than it was.\n".utf8)
        if compose(head, length: Int64(text.count)).sendsBody { core.buffer.append(text) }
        sendComposed()
    }

    /// Tells whoever wants to know how the reply ended, and forgets it.
    func endReply(_ cause: ReplyEnd.Cause) {
        if case .growing(let body, _) = reply.source { body.unsubscribe(self) }
        let (ended, tell) = (reply, onEnd)
        reply = ReplyProgress()
        guard let tell else { return }
        onEnd = nil
        let queued = cause == .complete ? 0 : Int64(evbuffer_get_length(output))
        tell(ReplyEnd(cause: cause, status: ended.status, bodyBytes: max(0, ended.bodyBytes - queued)))
    }

    /// Everything has been given to the system.
    private func finishReply() {
        let lingers = reply.lingers || hasInput
        let keeps = reply.framing?.keepsConnection ?? false
        endReply(.complete)
        guard phase == .replying else { return }
        if keeps {
            phase = .awaiting
            timing.restart(now: core.now)
            if core.isStopping { return close(.serverStopped) }
            resumeReading()
            process()
        } else if lingers, !hasInputEnded {
            phase = .lingering
            timing.enter(.linger, now: core.now)
            resumeReading()
            shutdown(descriptor, Int32(SHUT_WR))
        } else {
            close(.complete)
        }
    }
}

// MARK: - Sending

extension Connection {
    /// Sends on what can be sent: called when a reply begins, when the output has drained, and when a body has grown.
    func pump() {
        while phase == .replying, evbuffer_get_length(output) == 0 {
            switch reply.source {
            case .queued: return finishReply()
            case .bytes(let bytes, let offset): sendPart(of: bytes, from: offset)
            case .growing(let body, var progress):
                if let fresh = fresh(of: body, progress) {
                    let sent = sendNow(fresh, more: false)
                    progress.advance(by: sent)
                    reply.bodyBytes += Int64(sent)
                    reply.source = .growing(body, progress)
                    // What does not leave now comes again, with the file.
                    guard progress.isAtEnd else { return }
                }
                let action = progress.next(written: body.written, state: body.state)
                reply.source = .growing(body, progress)
                guard perform(action, of: body) else { return }
            }
        }
        if phase == .replying { timing.enter(.drain, now: core.now) }
    }

    /// What of a body can be sent before it is in its file: nothing where it would have to be announced as a chunk first.
    private func fresh(of body: any GrowingBody, _ progress: GrowingProgress) -> UnsafeRawBufferPointer? {
        guard let fresh = body.fresh, reply.framing?.delimiter != .chunks else { return nil }
        let part = progress.nextFresh(written: body.written, count: fresh.count)
        return part.isEmpty ? nil : UnsafeRawBufferPointer(rebasing: fresh[part])
    }

    /// False when there is nothing to go on with for now.
    private func perform(_ action: GrowingProgress.Action, of body: any GrowingBody) -> Bool {
        switch action {
        case .wait:
            timing.enter(.handler, now: core.now)
            if hasInputEnded { close(.clientLeft) }
            return false
        case .fail:
            cutShort()
            return false
        case .end:
            body.unsubscribe(self)
            reply.source = .queued
            if reply.framing?.delimiter == .chunks { send("0\r\n\r\n") }
        case .send(let range):
            let isChunk = reply.framing?.delimiter == .chunks
            if isChunk { sendChunkSize(range) }
            sendFile(body.descriptor, range, closes: false)
            if isChunk, phase == .replying { send("\r\n") }
        }
        return phase == .replying
    }

    /// Ends the connection where the reply stands, so that the client notices.
    private func cutShort() {
        if reply.framing?.delimiter == .close {
            // Without a length an orderly end would look like the body's; a reset does not.
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        close(.bodyFailed)
    }

    private func sendChunkSize(_ range: Range<Int64>) {
        core.buffer.clear()
        core.buffer.append(hexadecimal: Int64(range.count))
        core.buffer.append("\r\n")
        send(core.buffer.bytes, more: true)
    }

    /// Gives the system what it takes of an array, and queues a little of the rest, to be told when there is room again.
    private func sendPart(of bytes: [UInt8], from offset: Int) {
        let end = bytes.withUnsafeBytes { all in
            let part = UnsafeRawBufferPointer(rebasing: all[offset..<min(all.count, offset + Self.writeBudget)])
            let sent = sendNow(part, more: false)
            let rest = part.dropFirst(sent).prefix(64 * 1024)
            evbuffer_add(output, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            return offset + sent + rest.count
        }
        reply.bodyBytes = Int64(end)
        reply.source = end < bytes.count ? .bytes(bytes, offset: end) : .queued
    }

    private func sendComposed(more: Bool = false) {
        send(core.buffer.bytes, more: more)
    }

    /// Sends the head and bytes of the body in one call; answers how many of the body were taken. The head is queued where it
    /// does not leave.
    private func sendComposed(with body: UnsafeRawBufferPointer) -> Int {
        let head = core.buffer.bytes
        let sent = sendNow(head, body)
        guard sent < head.count else {
            reply.bodyBytes += Int64(sent - head.count)
            return sent - head.count
        }
        evbuffer_add(output, UnsafeRawBufferPointer(rebasing: head.dropFirst(sent)).baseAddress, head.count - sent)
        return 0
    }

    func send(_ literal: StaticString) {
        send(UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount), more: false)
    }

    /// Sends bytes at once if nothing is queued before them, and queues what the system does not take. With `more`, they
    /// may wait for what follows.
    private func send(_ bytes: UnsafeRawBufferPointer, more: Bool) {
        let sent = evbuffer_get_length(output) == 0 ? sendNow(bytes, more: more) : 0
        guard sent < bytes.count else { return }
        evbuffer_add(output, UnsafeRawBufferPointer(rebasing: bytes.dropFirst(sent)).baseAddress, bytes.count - sent)
    }

    /// How many bytes the system took. An error counts as none: it comes again when the bufferevent writes.
    private func sendNow(_ bytes: UnsafeRawBufferPointer, more: Bool) -> Int {
        let flags = MSG_NOSIGNAL | (more ? MSG_MORE : 0)
        return max(0, Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(flags)))
    }

    /// The same for two pieces of memory.
    private func sendNow(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { vectors in
            vectors[0] = iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count)
            vectors[1] = iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
            var message = msghdr()
            message.msg_iov = vectors.baseAddress
            message.msg_iovlen = 2
            return max(0, sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL)))
        }
    }

    /// Sends a range of a file without copying it, and queues as a file segment what the socket does not take now.
    private func sendFile(_ file: Int32, _ range: Range<Int64>, closes: Bool) {
        reply.bodyBytes += Int64(range.count)
        var offset = Int(range.lowerBound)
        if evbuffer_get_length(output) == 0 {
            let wanted = min(range.count, Self.writeBudget)
            let sent = sendfile(descriptor, file, &offset, wanted)
            if sent == 0 {
                if closes { Glibc.close(file) }
                return close(.bodyFailed)
            }
        }
        let rest = Int(range.upperBound) - offset
        guard rest > 0 else {
            if closes { Glibc.close(file) }
            return
        }
        queueFile(closes ? file : fcntl(file, F_DUPFD_CLOEXEC, 0), offset: offset, length: rest)
    }

    /// Takes over the descriptor.
    private func queueFile(_ file: Int32, offset: Int, length: Int) {
        guard file >= 0 else { return close(.bodyFailed) }
        let flags = UInt32(EVBUF_FS_CLOSE_ON_FREE | EVBUF_FS_DISABLE_LOCKING)
        guard let segment = evbuffer_file_segment_new(file, Int64(offset), Int64(length), flags) else {
            Glibc.close(file)
            return close(.bodyFailed)
        }
        evbuffer_add_file_segment(output, segment, 0, Int64(length))
        evbuffer_file_segment_free(segment)
    }
}

// MARK: - Heads

extension Connection {
    /// Puts a head together in the server's buffer. A head that does not fit is a fault of ours: 500 without a body.
    private func compose(_ head: ResponseHead, length: Int64?) -> ReplyFraming {
        let framing = ReplyFraming(
            method: facts.method, version: facts.version, status: head.status, length: length,
            wantsKeep: facts.wantsKeep && !core.isStopping)
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
