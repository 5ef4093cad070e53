import CLibevent
import EventLoop
import Glibc
import HTTPMessage

/// Progress of the reply being sent.
struct ReplyProgress {
    enum Source {
        /// The head was sent, and the body is not known yet.
        case unknown
        case queued
        case bytes([UInt8], offset: Int)
        case parts(PartsCursor)
        case rendered(any RenderedBody, Range<Int>)
        case growing(any GrowingBody, GrowingProgress)
        case feed(any ReplyFeed)
    }

    var source = Source.queued
    var framing: ReplyFraming?
    /// True if the head was sent before the body was known.
    var isBegun = false
    /// Ends the only chunk of a body whose head was sent before.
    var trailer: StaticString?
    var status: Int?
    var bodyBytes: Int64 = 0
    /// The time when the latest part of a rendered body was made, in nanoseconds of the monotonic clock; nil for other bodies.
    var stepped: Int64?
    /// True if the connection must wait for the client to close, so that the client can read the reply first.
    var lingers = false
    /// The files of which a part was queued, the latest last. More than one only where a growing body has moved to another file.
    var files: [ReplyFile] = []
}

extension Connection {
    /// Sends the head of the reply to request number `serial`; `reply` follows.
    func begin(_ head: ResponseHead, serial: Int) {
        guard phase == .handling, serial == self.serial else { return }
        phase = .replying
        _ = compose(head, length: nil)
        sendComposed()
        reply.source = .unknown
        reply.isBegun = true
        pump()
    }

    private var isBodyUnknown: Bool {
        guard case .unknown = reply.source else { return false }
        return true
    }

    /// Starts the reply to request number `serial`. Does nothing for an earlier request or a second reply.
    func reply(_ head: ResponseHead, _ body: consuming ReplyBody, serial: Int) {
        guard phase == .handling || isBodyUnknown && phase == .replying, serial == self.serial else { return }
        if reply.isBegun, head.status != .ok {
            return cutShort()
        }
        phase = .replying
        reply.source = .queued
        switch consume body {
        case .none:
            _ = open(head, length: 0)
            sendComposed()
        case .bytes(let bytes): begin(head, bytes)
        case .file(let file, let offset, let length): begin(head, file, offset: offset, length: length)
        case .parts(let file, let parts): begin(head, file, parts: parts)
        case .growing(let body, let offset, let length): begin(head, body, offset: offset, length: length)
        case .rendered(let body, let range): begin(head, body, range: range)
        case .feed(let feed): begin(head, feed)
        }
        pump()
    }

    /// Writes the head into the server's buffer, or the size of the only chunk if the head was sent before. Returns false if no
    /// body follows.
    private func open(_ head: ResponseHead, length: Int64?) -> Bool {
        guard reply.isBegun else { return compose(head, length: length).sendsBody }
        core.buffer.clear()
        if let length, reply.framing?.delimiter == .chunks {
            core.buffer.append(hexadecimal: length)
            core.buffer.append("\r\n")
            if length > 0 {
                reply.trailer = "\r\n0\r\n\r\n"
            } else {
                // The chunk without bytes is the last one.
                reply.trailer = "\r\n"
            }
        }
        return length != 0
    }

    private func begin(_ head: ResponseHead, _ bytes: [UInt8]) {
        guard open(head, length: Int64(bytes.count)) else { return sendComposed() }
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
        guard open(head, length: length) else { return sendComposed() }
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

    private func begin(_ head: ResponseHead, _ file: consuming OwnedDescriptor, parts: [ReplyPart]) {
        let length = parts.length
        guard open(head, length: length) else { return sendComposed() }
        guard length <= ReplyBuffer.smallBody else {
            sendComposed(more: true)
            reply.source = .parts(PartsCursor(file, parts))
            return
        }
        for part in parts {
            switch part {
            case .bytes(let bytes): core.buffer.append(bytes)
            case .file(let range):
                guard core.buffer.appendFile(file.rawValue, offset: range.lowerBound, length: range.count) else {
                    return failUnsent()
                }
            }
        }
        reply.bodyBytes = length
        sendComposed()
    }

    private func begin(_ head: ResponseHead, _ body: any GrowingBody, offset: Int64, length: Int64?) {
        // A body that grows may break off, so it is never one chunk.
        let announced = reply.isBegun ? nil : length
        guard open(head, length: announced) else { return sendComposed() }
        var progress = GrowingProgress(offset: offset, length: length)
        // A head that was sent before may still be queued.
        if evbuffer_get_length(output) == 0, let fresh = fresh(of: body, progress) {
            progress.advance(by: sendComposed(with: fresh))
        } else {
            sendComposed(more: body.written > offset)
        }
        reply.source = .growing(body, progress)
        body.subscribe(self) { self.pump() }
    }

    private func begin(_ head: ResponseHead, _ body: any RenderedBody, range: Range<Int>) {
        guard range.count > ReplyBuffer.smallBody else { return begin(head, body.bytes(in: range)) }
        guard open(head, length: Int64(range.count)) else { return sendComposed() }
        limitUnsent(true)
        sendComposed(more: true)
        reply.source = .rendered(body, range)
    }

    private func begin(_ head: ResponseHead, _ feed: any ReplyFeed) {
        let sendsBody = open(head, length: nil)
        sendComposed()
        guard sendsBody else { return }
        reply.source = .feed(feed)
        feed.open { self.pump() }
    }

    /// Answers 500: nothing was sent yet, so the client can still learn that the body is missing.
    private func failUnsent() {
        if reply.isBegun {
            return cutShort()
        }
        var head = ResponseHead(.internalServerError)
        head.append(.text)
        let text: [UInt8] = Array("The file is shorter than announced.\n".utf8)
        if compose(head, length: Int64(text.count)).sendsBody {
            core.buffer.append(text)
        }
        sendComposed()
    }

    func endReply(_ cause: ReplyEnd.Cause) {
        switch reply.source {
        case .growing(let body, _): body.unsubscribe(self)
        case .feed(let feed): feed.close()
        case .unknown, .queued, .bytes, .parts, .rendered: break
        }
        let status = reply.status
        let bodyBytes = reply.bodyBytes
        reply = ReplyProgress()
        if let status {
            core.counters.count(status: status)
        }
        guard let notify = onEnd.take() else { return }
        var queued: Int64 = 0
        if cause != .complete {
            queued = Int64(evbuffer_get_length(output))
        }
        notify(ReplyEnd(cause: cause, status: status, bodyBytes: max(0, bodyBytes - queued)))
    }

    /// Ends the reply after the system has accepted every byte.
    func finishReply() {
        let lingers = reply.lingers || hasInput
        if reply.stepped != nil {
            limitUnsent(false)
        }
        let keeps = reply.framing?.keepsConnection ?? false
        endReply(.complete)
        guard phase == .replying else { return }

        if keeps {
            phase = .awaiting
            timing.restart(now: core.now)
            if core.isStopping {
                return close(.serverStopped)
            }
            resumeReading()
            process()
            if core.pool.isCrowded, isIdle {
                core.pool.admitSoon()
            }
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
