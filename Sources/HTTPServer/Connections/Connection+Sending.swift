import CLibevent
import EventLoop
import Glibc
import HTTPMessage

/// Output: sent at once where the socket accepts it, else through the bufferevent.
extension Connection {
    /// Sends what can be sent. Called when a reply begins, when the output has drained, and when a body has grown.
    func pump() {
        if case .feed(let feed) = reply.source, feed.hasFailed {
            return cutShort()
        }
        while phase == .replying, evbuffer_get_length(output) == 0 {
            switch reply.source {
            case .unknown: return awaitBody()
            case .queued:
                guard let trailer = reply.trailer.take() else { return finishReply() }
                send(trailer)
            case .bytes(let bytes, let offset): sendPart(of: bytes, from: offset)
            case .parts(let body): sendNext(of: body)
            case .rendered(let body, let range): sendNext(of: body, range)
            case .feed(let feed): guard perform(feed.next(), of: feed) else { return }
            case .growing(let body, var progress):
                if let fresh = fresh(of: body, progress) {
                    let sent = sendNow(fresh, more: false)
                    progress.advance(by: sent)
                    reply.bodyBytes += Int64(sent)
                    reply.source = .growing(body, progress)
                    // The rest follows from the file.
                    guard progress.isAtEnd else { return }
                }
                let action = progress.next(written: body.written, state: body.state)
                reply.source = .growing(body, progress)
                guard perform(action, of: body) else { return }
            }
        }
        guard phase == .replying else { return }
        queueRest()
        timing.enter(.drain(isLimited: !facts.mayPause), now: core.now)
    }

    /// Queues the rest of a body that has grown to its end and that the client is behind with. A client that is paused then holds
    /// an open file, and not what has brought it.
    private func queueRest() {
        guard case .growing(let body, let progress) = reply.source, body.state == .complete else { return }
        let end = progress.end ?? body.written
        // A body that is too short fails once the client has read what there is.
        guard end <= body.written else { return }
        body.unsubscribe(self)
        reply.source = .queued
        let isChunked = reply.framing?.delimiter == .chunks
        let rest = progress.position..<end
        if !rest.isEmpty {
            if isChunked {
                sendChunkSize(Int64(rest.count))
            }
            sendFile(body.descriptor, rest, closes: false)
            if isChunked, phase == .replying {
                send("\r\n")
            }
        }
        if isChunked, phase == .replying {
            send("0\r\n\r\n")
        }
    }

    /// The fresh bytes that can be sent before they are in the file; nil if a chunk size must precede them.
    func fresh(of body: any GrowingBody, _ progress: GrowingProgress) -> UnsafeRawBufferPointer? {
        guard let fresh = body.fresh, reply.framing?.delimiter != .chunks else { return nil }
        let part = progress.nextFresh(written: body.written, count: fresh.count)
        guard !part.isEmpty else { return nil }
        return UnsafeRawBufferPointer(rebasing: fresh[part])
    }

    /// Number of bytes of the reply's body that the system has accepted.
    var sentBytes: Int64 { max(0, reply.bodyBytes - Int64(evbuffer_get_length(output))) }

    /// Returns false if the reply must wait or has ended.
    private func perform(_ action: GrowingProgress.Action, of body: any GrowingBody) -> Bool {
        switch action {
        case .wait:
            awaitBody()
            return false
        case .fail:
            cutShort()
            return false
        case .end:
            body.unsubscribe(self)
            reply.source = .queued
            if reply.framing?.delimiter == .chunks {
                send("0\r\n\r\n")
            }
        case .send(let range):
            let isChunk = reply.framing?.delimiter == .chunks
            if isChunk {
                sendChunkSize(Int64(range.count))
            }
            sendFile(body.descriptor, range, closes: false)
            if isChunk, phase == .replying {
                send("\r\n")
            }
        }
        return phase == .replying
    }

    /// Returns false if the reply must wait.
    private func perform(_ step: ReplyFeedStep, of feed: any ReplyFeed) -> Bool {
        switch step {
        case .wait:
            awaitBody()
            return false
        case .end:
            feed.close()
            reply.source = .queued
            if reply.framing?.delimiter == .chunks {
                send("0\r\n\r\n")
            }
        case .bytes(let bytes):
            let isChunk = reply.framing?.delimiter == .chunks
            if isChunk {
                sendChunkSize(Int64(bytes.count))
            }
            bytes.withUnsafeBytes { send($0, more: isChunk) }
            if isChunk {
                send("\r\n")
            }
            reply.bodyBytes += Int64(bytes.count)
        }
        return true
    }

    /// Waits for the body, without a deadline. Closes if the client has closed its side.
    private func awaitBody() {
        timing.enter(.handler, now: core.now)
        if hasInputEnded {
            close(.clientLeft)
        }
    }

    /// Closes the connection in the middle of the reply, so that the client detects the failure.
    func cutShort() {
        if reply.framing?.delimiter == .close {
            // Without a length an orderly end would look like the body's end; a reset does not.
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        close(.bodyFailed)
    }

    private func sendChunkSize(_ count: Int64) {
        core.buffer.clear()
        core.buffer.append(hexadecimal: count)
        core.buffer.append("\r\n")
        send(core.buffer.bytes, more: true)
    }

    /// Sends part of an array and queues a little of the rest, so that libevent calls back when there is room.
    private func sendPart(of bytes: [UInt8], from offset: Int) {
        let end = bytes.withUnsafeBytes { all in
            let part = UnsafeRawBufferPointer(rebasing: all[offset..<min(all.count, offset + Self.writeBudget)])
            let sent = sendNow(part, more: false)
            let rest = part.dropFirst(sent).prefix(64 * 1024)
            evbuffer_add(output, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            return offset + sent + rest.count
        }
        reply.bodyBytes = Int64(end)
        if end < bytes.count {
            reply.source = .bytes(bytes, offset: end)
        } else {
            reply.source = .queued
        }
    }

    private func sendNext(of body: PartsCursor) {
        switch body.next() {
        case .bytes(let bytes):
            bytes.withUnsafeBytes { send($0, more: !body.isAtEnd) }
            reply.bodyBytes += Int64(bytes.count)
        case .file(let range): sendFile(body.descriptor, range, closes: false)
        case nil: reply.source = .queued
        }
    }

    /// Most bytes of a rendered body that are made at a time, and most that the system keeps unsent.
    private static let renderedStep = 64 * 1024

    /// Queues a part, which is sent in a turn of its own: clients that ask together must not fill all their sockets in one.
    private func sendNext(of body: any RenderedBody, _ range: Range<Int>) {
        let next = range.prefix(Self.renderedStep)
        let rest = next.upperBound..<range.upperBound
        body.bytes(in: next.lowerBound..<next.upperBound).withUnsafeBytes {
            _ = evbuffer_add(output, $0.baseAddress, $0.count)
        }
        reply.bodyBytes += Int64(next.count)
        reply.stepped = FairShare.nanoseconds
        if rest.isEmpty {
            reply.source = .queued
        } else {
            reply.source = .rendered(body, rest)
        }
    }

    /// Limits what the system takes from a rendered body before the client reads; lifts the limit for other bodies, whose pages
    /// it shares. A Unix socket has no such limit.
    func limitUnsent(_ isLimited: Bool) {
        var count: UInt32 = isLimited ? UInt32(Self.renderedStep) : 0
        setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &count, socklen_t(MemoryLayout<UInt32>.size))
    }

    /// Sends the server's buffer. With `more`, the system may wait for further bytes.
    func sendComposed(more: Bool = false) { send(core.buffer.bytes, more: more) }

    /// Sends head and body bytes in one call, and queues the rest of the head. Returns the number of body bytes sent.
    func sendComposed(with body: UnsafeRawBufferPointer) -> Int {
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

    /// Sends bytes at once if none are queued, and queues the rest. With `more`, the system may wait for further bytes.
    private func send(_ bytes: UnsafeRawBufferPointer, more: Bool) {
        var sent = 0
        if evbuffer_get_length(output) == 0 {
            sent = sendNow(bytes, more: more)
        }
        guard sent < bytes.count else { return }
        evbuffer_add(output, UnsafeRawBufferPointer(rebasing: bytes.dropFirst(sent)).baseAddress, bytes.count - sent)
    }

    /// Returns how many bytes the system accepted. An error counts as 0: it recurs when the bufferevent writes.
    private func sendNow(_ bytes: UnsafeRawBufferPointer, more: Bool) -> Int {
        var flags = MSG_NOSIGNAL
        if more {
            flags |= MSG_MORE
        }
        return max(0, Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(flags)))
    }

    private func sendNow(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        Self.send(first, second, to: descriptor)
    }

    /// Not of the actor: its closure would check the thread at each call.
    private nonisolated static func send(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, to descriptor: Int32
    ) -> Int {
        withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { vectors in
            vectors[0] = iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count)
            vectors[1] = iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
            var message = msghdr()
            message.msg_iov = vectors.baseAddress
            message.msg_iovlen = 2
            return max(0, sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL)))
        }
    }

    /// Sends a range of a file without copying it (sendfile), and queues the unsent part as a file segment.
    func sendFile(_ file: Int32, _ range: Range<Int64>, closes: Bool) {
        reply.bodyBytes += Int64(range.count)
        var offset = Int(range.lowerBound)
        if evbuffer_get_length(output) == 0 {
            let wanted = min(range.count, Self.writeBudget)
            let sent = sendfile(descriptor, file, &offset, wanted)
            if sent == 0 {
                if closes {
                    Glibc.close(file)
                }
                return close(.bodyFailed)
            }
        }
        let rest = Int(range.upperBound) - offset
        guard rest > 0 else {
            if closes {
                Glibc.close(file)
            }
            return
        }
        queueFile(file, offset: offset, length: rest, closes: closes)
    }

    /// Queues a range of a file. The reply has one descriptor for all ranges, since its client may be paused for hours.
    private func queueFile(_ file: Int32, offset: Int, length: Int, closes: Bool) {
        if reply.files.last?.original != file {
            guard let opened = ReplyFile(file, isOwned: closes) else { return close(.bodyFailed) }
            reply.files.append(opened)
        }
        let flags = UInt32(EVBUF_FS_DISABLE_LOCKING)
        guard let opened = reply.files.last,
            let segment = evbuffer_file_segment_new(opened.descriptor, Int64(offset), Int64(length), flags)
        else { return close(.bodyFailed) }
        evbuffer_add_file_segment(output, segment, 0, Int64(length))
        evbuffer_file_segment_free(segment)
    }
}
