/// The latest messages, for whoever lost the stream for a moment. Pure.
struct EventHistory {
    /// The most bytes that it keeps.
    let limit: Int
    /// The number of the last message, kept or not.
    private(set) var last = 0
    private var messages: [[UInt8]] = []
    private var bytes = 0

    init(limit: Int) { self.limit = limit }

    /// The number of the message that comes next.
    var next: Int { last + 1 }

    /// Notes a message that was sent.
    mutating func append(_ message: [UInt8]) {
        last += 1
        messages.append(message)
        bytes += message.count
        guard bytes > limit else { return }
        // Half of it at a time, so that each message is moved once or twice in its life.
        var dropped = 0
        while bytes > limit / 2, dropped < messages.count {
            bytes -= messages[dropped].count
            dropped += 1
        }
        messages.removeFirst(dropped)
    }

    /// Notes that something happened of which nobody was told.
    mutating func skip() {
        last += 1
        messages.removeAll()
        bytes = 0
    }

    /// The messages after a number; nil if they are no longer kept.
    func messages(after number: Int) -> ArraySlice<[UInt8]>? {
        guard number <= last, number >= last - messages.count else { return nil }
        return messages.suffix(last - number)
    }
}

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
