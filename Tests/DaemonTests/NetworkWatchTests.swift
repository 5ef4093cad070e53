import Testing

@testable import Daemon

/// The kernel's announcements of addresses and routes, as they are in memory on this machine.
@Suite struct NetworkWatchTests {
    /// A message with this type and these first bytes of its body.
    private static func message(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
        let padded = body + [UInt8](repeating: 0, count: 12 - body.count)
        return [UInt8(16 + padded.count), 0, 0, 0, type, 0, 0, 0] + [UInt8](repeating: 0, count: 8) + padded
    }

    private static let messages: [(words: String, bytes: [UInt8], isChange: Bool)] = [
        ("an IPv4 address comes", message(20, [2, 24, 0, 0]), true),
        ("an IPv4 address goes", message(21, [2, 24, 0, 0]), true),
        ("an IPv6 address is announced again", message(20, [10, 64, 0, 0]), false),
        ("an IPv6 address goes", message(21, [10, 64, 0, 0]), true),
        ("a container's link-local address goes", message(21, [10, 64, 0, 253]), false),
        ("the default route changes", message(24, [2, 0, 0, 0, 254]), true),
        ("the default route goes", message(25, [2, 0, 0, 0, 254]), true),
        ("a route to one network comes", message(24, [2, 24, 0, 0, 254]), false),
        ("a route of another table comes", message(24, [2, 0, 0, 0, 255]), false),
        ("a link changes", message(16, [0, 0, 0, 0]), false),
    ]

    @Test(arguments: messages)
    func aChangeIsWhatMayLeadIntoAnotherNetwork(_ words: String, _ bytes: [UInt8], _ isChange: Bool) {
        #expect(Announcement.showsChange(bytes[...]) == isChange, "\(words)")
        let quiet = Self.message(16, [])
        #expect(Announcement.showsChange((quiet + bytes)[...]) == isChange, "\(words), as the second message")
    }

    @Test(arguments: [
        [], [1, 2, 3], [255, 0, 0, 0] + [UInt8](repeating: 0, count: 12), [UInt8](repeating: 0, count: 40),
    ])
    func aMessageThatIsCutOffIsNoChange(_ bytes: [UInt8]) {
        #expect(!Announcement.showsChange(bytes[...]))
    }
}
