/// Parses server-sent events from chunks of any size (WHATWG HTML §9.2.6). Pure.
struct EventTextParser {
    struct Message: Equatable {
        /// The `event` field; `message` if it is absent.
        var name: String
        /// The `data` lines, joined with line feeds.
        var data: String
    }

    private var line: [UInt8] = []
    private var name = ""
    private var data: [String] = []
    /// True if the last byte was a carriage return, so that a following line feed does not end another line.
    private var endsWithReturn = false

    /// Parses bytes and returns the messages that they complete.
    mutating func parse(_ bytes: some Sequence<UInt8>) -> [Message] {
        var messages: [Message] = []
        for byte in bytes {
            defer { endsWithReturn = byte == UInt8(ascii: "\r") }
            if byte == UInt8(ascii: "\n"), endsWithReturn {
                continue
            }
            guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else {
                line.append(byte)
                continue
            }
            if let message = endLine() {
                messages.append(message)
            }
        }
        return messages
    }

    private mutating func endLine() -> Message? {
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty else { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") {
            value.removeFirst()
        }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data": data.append(String(decoding: value, as: UTF8.self))
        // Comments, ids and retry times are not used: a client that reconnects starts with a snapshot.
        default: break
        }
        return nil
    }

    private mutating func dispatch() -> Message? {
        defer {
            name = ""
            data = []
        }
        guard !data.isEmpty else { return nil }
        // The name of an event without an `event` field (HTML, Server-sent events, §9.2.6).
        let type = name.isEmpty ? "message" : name
        return Message(name: type, data: data.joined(separator: "\n"))
    }
}
