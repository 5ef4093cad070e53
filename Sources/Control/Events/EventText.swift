/// The text of server-sent events (WHATWG HTML §9.2.5). Pure.
enum EventText {
    /// One message. Neither the id nor the name has a line end in it, and JSON on one line has none either.
    static func message(id: String, name: String, data: [UInt8]) -> [UInt8] {
        var text = Array("id: \(id)\nevent: \(name)\ndata: ".utf8)
        text.append(contentsOf: data)
        text.append(contentsOf: "\n\n".utf8)
        return text
    }

    /// A comment, which a client passes over: it shows to both sides, and to what is between them, that the other is
    /// there.
    static let heartbeat = Array(":\n\n".utf8)
}
