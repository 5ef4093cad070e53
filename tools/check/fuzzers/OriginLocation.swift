import HTTPMessage

/// Redirects: an input is a Location for each line. No redirect leads to anything but a plain http or https URL, and secrets
/// go to their own origin alone.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    guard let first = bytes.first,
        let url = try? WebURL(first % 2 == 0 ? "https://a.example/b/c" : "http://a.example/b/c"),
        let secret = FieldLine(Array("Authorization: secret".utf8)), let plain = FieldLine(Array("Referer: r".utf8))
    else { return 0 }
    var request = OriginRequest(url)
    request.fields = [plain]
    request.credentials = OriginRequest.Credentials(origin: url.origin, fields: [secret])
    var state = TransferState(AskedRequest(request), rule: GiveUpRule(), redirectLimit: 10, now: .now)
    guard case .send(var attempt) = state.begin() else { fatalError("no attempt") }
    var redirects = 0
    for line in bytes.dropFirst().split(separator: 0x0A, omittingEmptySubsequences: false) {
        var reply = Reply()
        let head: [[UInt8]] = [
            Array("HTTP/1.1 302 Found\r\n".utf8), Array("Location: ".utf8) + line + [0x0D, 0x0A], [0x0D, 0x0A],
        ]
        for text in head { _ = text.withUnsafeBytes { reply.receive(line: $0) } }
        _ = state.received(reply)
        switch state.ended(.finished, now: .now, jitter: 0) {
        case .send(let next):
            (attempt, redirects) = (next, redirects + 1)
            check(attempt.url, of: request)
        case .wait: _ = state.pauseEnded()
        case .end(let error):
            precondition(error != nil, "a redirect is no success")
            return 0
        }
    }
    precondition(redirects <= 10 || bytes.count > 10)
    return 0
}

private func check(_ url: WebURL, of request: OriginRequest) {
    precondition((try? WebURL(url.text)) == url, "\(url.text) is read differently")
    precondition(url.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(url.text) breaks a request line")
    precondition(url.text.hasPrefix("http://") || url.text.hasPrefix("https://"))
    precondition(!url.text.dropFirst(8).prefix { $0 != "/" && $0 != "?" && $0 != "#" }.contains("@"), "a user's name")
    // A Location may have credentials of its own, for its own host.
    let fields = request.fields(for: url).filter { $0.name != "Authorization" || $0.value == "secret" }
    let isOwn = url.origin == request.url.origin
    precondition(isOwn || !fields.contains { $0.value == "secret" }, "a secret goes to \(url.text)")
    precondition(request.url.scheme == .http || url.scheme == .https || fields.isEmpty, "a field goes to \(url.text)")
}
