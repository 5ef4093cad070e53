import Foundation

/// One reply of ``OriginServer`` on its way out under a rule.
struct OriginReply {
    private let head: OriginRequestHead
    private let order: Int
    private let rule: OriginRule
    /// The state of releases before the client knew of what is held back.
    private var past: OriginServer.Past
    /// Nil if the rule requires no tokens.
    private let isAdmitted: Bool?
    private let connection: OriginConnection
    private let server: OriginServer
    private var status = 200
    private var fields: [(name: String, value: String)] = []
    /// False if the connection must be closed after the reply.
    private(set) var isConnectionKept: Bool

    private static let block = 256 * 1024

    init(
        head: OriginRequestHead, order: Int, verdict: OriginServer.Verdict?, connection: OriginConnection,
        server: OriginServer
    ) {
        self.head = head
        self.order = order
        rule = verdict?.rule ?? OriginRule("*")
        past = verdict?.past ?? OriginServer.Past(clears: 0, releases: 0)
        isAdmitted = verdict?.isAdmitted
        self.connection = connection
        self.server = server
        isConnectionKept = !head.isLast
    }

    /// Sends the whole reply, as the rule says.
    mutating func send() throws(OriginConnectionEnd) {
        if let delay = rule.delay {
            try pause(.seconds(delay))
        }
        if rule.hold == true {
            try waitForRelease()
        }
        try endEarly(after: -1)

        let (body, type) = chooseBody()
        try send(body, type: type)
    }

    // MARK: - The resource

    /// Chooses the body and sets the status.
    private mutating func chooseBody() -> (OriginBody, String) {
        let plain = "text/plain"
        if isAdmitted == false {
            status = rule.signed?.refusal ?? 403
            return (.bytes(Array("the link has expired\n".utf8)), plain)
        }
        if rule.redirect != nil {
            status = rule.status ?? 302
            return (.bytes([]), plain)
        }
        if rule.html == true {
            status = rule.status ?? 200
            let page = "<!DOCTYPE html><title>Sign in</title><p>Please sign in.</p>\n"
            return (.bytes(Array(page.utf8)), "text/html")
        }
        if let wanted = rule.status {
            status = wanted
            return (.bytes(ruleBody), plain)
        }
        guard head.method == "GET" || head.method == "HEAD" else {
            status = 405
            return (.bytes(Array("GET and HEAD only\n".utf8)), plain)
        }
        guard let (body, type) = server.resource(of: head) else {
            status = 404
            return (.bytes(Array("no such resource\n".utf8)), plain)
        }
        guard isAdmitted == true, head.path.hasSuffix(".m3u8") else { return (body, type) }
        return (server.sign(body, for: rule), type)
    }

    private var ruleBody: [UInt8] {
        guard let digits = rule.bodyHex.map({ Array($0.utf8) }) else {
            return Array((rule.body ?? "").utf8)
        }
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
        }
    }

    // MARK: - The head

    private mutating func send(_ plain: OriginBody, type: String) throws(OriginConnectionEnd) {
        var body = plain
        set("Content-Type", rule.contentType ?? type)
        let acceptsGzip = head.headers["accept-encoding"]?.contains("gzip") == true
        if rule.gzip == true && acceptsGzip && head.headers["range"] == nil {
            set("Content-Encoding", "gzip")
            set("Vary", "Accept-Encoding")
            body = plain.compressed()
        }

        let size = min(body.size, rule.truncate ?? body.size)
        let range = validate(body, size: size)
        let isChunked = rule.chunked == true
        setFraming(count: range.count, isChunked: isChunked)
        for (name, value) in rule.headers ?? [:] {
            set(name, value)
        }
        // Once, when it is final: a test may look at any time.
        let status = status
        server.update(order) { $0.status = status }
        try connection.send(headBytes)

        guard head.method != "HEAD", status != 204, status != 304 else { return }
        try sendBody(body, range: range, isChunked: isChunked)
    }

    /// Sets the validators, and decides which bytes are sent.
    private mutating func validate(_ body: OriginBody, size: Int) -> Range<Int> {
        guard status == 200, rule.html != true else { return 0..<size }

        let tag = (rule.etag ?? body.tag).map { "\"\($0)\"" }
        if rule.noRanges != true {
            set("Accept-Ranges", "bytes")
        }
        if rule.noValidators != true {
            if let tag {
                set("ETag", tag)
            }
            if let modified = body.modified {
                set("Last-Modified", modified)
            }
        }

        let known = (head.headers["if-none-match"] ?? "").split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        if let tag, known.contains(tag) || known.contains("*") {
            status = 304
            return 0..<0
        }
        guard rule.noRanges != true, rule.ignoreRange != true else { return 0..<size }
        return chooseRange(size: size)
    }

    /// The requested bytes, by RFC 9110 14; sets status 206 or 416 and Content-Range.
    private mutating func chooseRange(size: Int) -> Range<Int> {
        let whole = 0..<size
        guard let value = head.headers["range"] else { return whole }
        if let guardTag = head.headers["if-range"] {
            guard guardTag == field("ETag") || guardTag == field("Last-Modified") else { return whole }
        }

        let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces).lowercased() == "bytes" else {
            return whole
        }
        let text = parts[1].trimmingCharacters(in: .whitespaces)
        let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2, !text.contains(","), ends.contains(where: { !$0.isEmpty }) else { return whole }
        let first = ends[0].isEmpty ? nil : Int(ends[0])
        let last = ends[1].isEmpty ? nil : Int(ends[1])
        guard (first == nil) == ends[0].isEmpty, (last == nil) == ends[1].isEmpty else { return whole }

        let start = first ?? max(0, size - (last ?? 0))
        var end = size
        if let last, first != nil {
            end = min(size, last + 1)
        }
        guard start < size, first == nil || end > start else {
            status = 416
            set("Content-Range", "bytes */\(size)")
            return 0..<0
        }
        status = 206
        set("Content-Range", "bytes \(start)-\(end - 1)/\(size)")
        return start..<end
    }

    private mutating func setFraming(count: Int, isChunked: Bool) {
        if let location = rule.redirect {
            set("Location", location)
        }
        if isChunked {
            set("Transfer-Encoding", "chunked")
        } else if rule.untilClose == true {
            set("Connection", "close")
            isConnectionKept = false
        } else if status != 204 && status != 304 {
            set("Content-Length", String(rule.contentLength ?? count))
        }
        if let claimed = rule.contentLength, claimed != count {
            isConnectionKept = false
        }
    }

    private var headBytes: [UInt8] {
        let reason = OriginReply.reasons[status] ?? "Status"
        let lines = ["HTTP/1.1 \(status) \(reason)"] + fields.map { "\($0.name): \($0.value)" }
        let text = lines.joined(separator: "\r\n") + "\r\n\r\n"
        return text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }

    private static let reasons = [
        200: "OK", 204: "No Content", 206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
        304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
        401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 410: "Gone",
        416: "Range Not Satisfiable", 429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway",
        503: "Service Unavailable", 504: "Gateway Timeout",
    ]

    private func field(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    private mutating func set(_ name: String, _ value: String) {
        if let index = fields.firstIndex(where: { $0.name == name }) {
            fields[index].value = value
        } else {
            fields.append((name, value))
        }
    }

    // MARK: - The body

    /// Sends the body in steps that end exactly where the rule makes something happen.
    private mutating func sendBody(_ body: OriginBody, range: Range<Int>, isChunked: Bool) throws(OriginConnectionEnd) {
        let total = range.count
        let stops = [rule.pauseAfter, rule.stallAfter, rule.cutAfter, rule.resetAfter].compactMap { $0 }
        let step = rule.throttle.map { max(1, min(OriginReply.block, $0 / 20)) } ?? OriginReply.block
        let pausePoint = rule.pauseAfter.map { min($0, total) }
        let stallPoint = rule.stallAfter.map { min($0, total) }

        var sent = 0
        while true {
            if sent == pausePoint {
                try waitForRelease()
            }
            if sent == stallPoint {
                server.update(order) { $0.state = "paused" }
                while try !connection.wait() {}
            }
            try endEarly(after: sent)
            if sent == total {
                break
            }

            let next = stops.filter { $0 > sent }.min() ?? total
            let count = min(step, min(next, total) - sent)
            let bytes = body.read(from: range.lowerBound + sent, count: count)
            if sent + count == pausePoint {
                past.releases = server.releases
            }
            try connection.send(isChunked ? OriginReply.chunk(bytes) : bytes)
            sent += count
            let bytesSent = sent
            server.update(order) { $0.bytes = bytesSent }
            if let throttle = rule.throttle, sent < total {
                try pause(.seconds(Double(count) / Double(throttle)))
            }
        }
        if isChunked {
            try connection.send(Array("0\r\n\r\n".utf8))
        }
    }

    private static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        let size = String(bytes.count, radix: 16)
        return Array("\(size)\r\n".utf8) + bytes + Array("\r\n".utf8)
    }

    /// Closes or resets the connection if the rule says so after that many bytes of body; -1: before the head.
    private func endEarly(after sent: Int) throws(OriginConnectionEnd) {
        if rule.cutAfter == sent {
            connection.discardInput()
            throw .cut
        }
        if rule.resetAfter == sent {
            try connection.resetOnClose()
            throw .cut
        }
    }

    /// Waits for a fixed time, whatever is released meanwhile.
    private func pause(_ duration: Duration) throws(OriginConnectionEnd) {
        let end = ContinuousClock.now + duration
        while ContinuousClock.now < end {
            try connection.wait(for: end - .now)
        }
    }

    private func waitForRelease() throws(OriginConnectionEnd) {
        server.update(order) { $0.state = "paused" }
        try connection.waitForRelease(target: head.target, since: past)
        server.update(order) { $0.state = "open" }
    }
}
