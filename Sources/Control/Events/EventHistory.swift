/// The latest messages, for clients that reconnect. Pure.
struct EventHistory {
    let limit: Int
    /// Number of the last message, even if it is no longer kept.
    private(set) var last = 0
    private var messages: [[UInt8]] = []
    private var bytes = 0

    init(limit: Int) { self.limit = limit }

    var next: Int { last + 1 }

    mutating func append(_ message: [UInt8]) {
        last += 1
        messages.append(message)
        bytes += message.count
        guard bytes > limit else { return }
        // Drops half of the messages at a time, so that each message is moved only once or twice.
        var dropped = 0
        while bytes > limit / 2, dropped < messages.count {
            bytes -= messages[dropped].count
            dropped += 1
        }
        messages.removeFirst(dropped)
    }

    /// Counts an event that was not sent because there were no readers.
    mutating func skip() {
        last += 1
        messages.removeAll()
        bytes = 0
    }

    /// The messages after a number; nil if some of them are no longer kept.
    func messages(after number: Int) -> ArraySlice<[UInt8]>? {
        guard number <= last, number >= last - messages.count else { return nil }
        return messages.suffix(last - number)
    }
}

/// The text of server-sent events (WHATWG HTML §9.2.5). Pure.
enum EventText {
    /// Encodes one message. The id, the name and one-line JSON contain no line ends.
    static func message(id: String, name: String, data: [UInt8]) -> [UInt8] {
        var text = Array("id: \(id)\nevent: \(name)\ndata: ".utf8)
        text.append(contentsOf: data)
        text.append(contentsOf: "\n\n".utf8)
        return text
    }

    /// A comment, which clients ignore. It shows both ends, and proxies between them, that the connection is alive.
    static let heartbeat = Array(":\n\n".utf8)
}
