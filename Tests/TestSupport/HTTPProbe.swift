package import Foundation

package struct HTTPAnswer: Sendable {
    package let status: Int
    /// Header fields in order, names in lower case.
    package let fields: [(name: String, value: String)]
    /// The body, with chunked coding decoded; partial if the connection broke.
    package let body: Data
    /// True if the body is complete by Content-Length, last chunk or close.
    package let isComplete: Bool

    package subscript(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    package var text: String { String(decoding: body, as: UTF8.self) }
}

/// An HTTP client that makes one request per connection, without redirects, retries or caches.
package enum HTTPProbe {
    /// Requests an `http` URL of a loopback address. The target is sent exactly as written.
    ///
    /// Host, Content-Length (with a body) and `Connection: close` are added unless `fields` names them.
    package static func fetch(
        _ url: String, method: String = "GET", fields: [String: String] = [:], body: Data? = nil,
        within bound: Duration = .seconds(30)
    ) async throws -> HTTPAnswer {
        let (authority, target) = try split(url)
        guard let port = Int(authority.drop { $0 != ":" }.dropFirst()) else {
            throw HTTPProbeError("no port in \(url)")
        }
        var all = ["host": authority, "connection": "close"]
        all["content-length"] = body.map { String($0.count) }
        all.merge(fields.map { ($0.key.lowercased(), $0.value) }) { $1 }
        let lines = ["\(method) \(target) HTTP/1.1"] + all.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }

        let host = authority.hasPrefix("127.") ? String(authority.prefix { $0 != ":" }) : "127.0.0.1"
        let connection = try RawConnection(port: port, host: host)
        try await connection.send(
            Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (body ?? Data()), within: bound)
        let head = try await connection.receiveHead(within: bound)
        guard head.end == .satisfied else { throw HTTPProbeError("no whole head (\(head.end)) from \(url)") }
        let (status, received) = try parse(head.bytes)
        let fieldValue = { (name: String) in received.first { $0.name == name }?.value }
        let bodyless = method == "HEAD" || status == 204 || status == 304
        let length = bodyless ? 0 : fieldValue("content-length").flatMap { Int($0) }
        let rest = try await connection.receive(count: length ?? .max, within: bound)
        guard fieldValue("transfer-encoding") == "chunked", !bodyless else {
            let complete = length == nil ? rest.end == .closed : rest.end == .satisfied
            return HTTPAnswer(status: status, fields: received, body: rest.bytes, isComplete: complete)
        }
        let (decoded, complete) = dechunk(rest.bytes)
        return HTTPAnswer(status: status, fields: received, body: decoded, isComplete: complete)
    }

    private static func split(_ url: String) throws -> (authority: String, target: String) {
        guard url.hasPrefix("http://") else { throw HTTPProbeError("not an http URL: \(url)") }
        let rest = url.dropFirst("http://".count)
        let authority = rest.prefix { $0 != "/" }
        let target = rest.dropFirst(authority.count)
        return (String(authority), target.isEmpty ? "/" : String(target))
    }

    private static func parse(_ head: Data) throws -> (status: Int, fields: [(name: String, value: String)]) {
        let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, let status = Int(words[1]) else { throw HTTPProbeError("status line \(lines[0])") }
        return (
            status,
            lines.dropFirst().filter { !$0.isEmpty }.map { line in
                let name = line.prefix { $0 != ":" }
                let value = line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
                return (name.lowercased(), value)
            }
        )
    }

    /// Decodes chunked coding; `isComplete` is true if the last chunk was received.
    private static func dechunk(_ bytes: Data) -> (body: Data, isComplete: Bool) {
        var rest = bytes[...]
        var body = Data()
        while let line = rest.range(of: Data("\r\n".utf8)),
            let size = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16)
        {
            if size == 0 {
                return (body, true)
            }
            let data = rest[line.upperBound...].prefix(size)
            body.append(data)
            rest = rest[line.upperBound...].dropFirst(size + 2)
        }
        return (body, false)
    }
}

/// Reports a response that is not HTTP, or a URL that the probe does not support.
package struct HTTPProbeError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
