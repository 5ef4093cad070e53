import Testing

@testable import HLS

@Suite struct ChannelRosterTests {
    private static func channel(
        _ title: String, id: String? = nil, group: String? = nil, url: String
    ) -> ChannelList.Channel {
        var channel = ChannelList.Channel(url: url)
        channel.title = title
        channel.id = id
        channel.group = group
        return channel
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let old: [ChannelList.Channel]
        let new: [ChannelList.Channel]
        /// The names after the second reading; `new-…` for a channel that is new.
        let names: [String]
    }

    static let cases = [
        Case(
            testDescription: "a new token", old: [channel("A", id: "a", url: "http://h/a?t=1")],
            new: [channel("A", id: "a", url: "http://h/a?t=2")], names: ["old-0"]),
        Case(
            testDescription: "a new title with the same guide id", old: [channel("A", id: "a", url: "http://h/a?t=1")],
            new: [channel("A HD", id: "a", url: "http://h/b?t=2")], names: ["old-0"]),
        Case(
            testDescription: "a new URL with the same title and group",
            old: [channel("A", group: "G", url: "http://h/1"), channel("A", group: "H", url: "http://h/2")],
            new: [channel("A", group: "H", url: "http://h/3"), channel("A", group: "G", url: "http://h/4")],
            names: ["old-1", "old-0"]),
        Case(
            testDescription: "a new title without a guide id", old: [channel("A", url: "http://h/1?t=1")],
            new: [channel("B", url: "http://h/1?t=2")], names: ["old-0"]),
        Case(
            testDescription: "two qualities with one guide id",
            old: [channel("A HD", id: "a", url: "http://h/1"), channel("A SD", id: "a", url: "http://h/2")],
            new: [channel("A SD", id: "a", url: "http://h/4"), channel("A HD", id: "a", url: "http://h/3")],
            names: ["old-1", "old-0"]),
        Case(
            testDescription: "one that is gone, and another one", old: [channel("A", id: "a", url: "http://h/1")],
            new: [channel("B", id: "b", url: "http://h/2")], names: ["new-0"]),
    ]

    @Test(arguments: cases) func aChannelIsKnownAgain(_ example: Case) {
        var roster = ChannelRoster()
        roster.adopt(ChannelList(example.old)) { _, names in "old-\(names.count)" }
        var added = 0
        let changes = roster.adopt(ChannelList(example.new)) { _, _ in
            defer { added += 1 }
            return "new-\(added)"
        }
        #expect(roster.entries.map(\.name) == example.names)
        #expect(changes.added == added && roster.entries.map(\.channel) == example.new)
        let moved = zip(example.old, roster.entries).filter { _, entry in entry.name.hasPrefix("old") }
        #expect(changes.moved.count <= moved.count)
    }

    @Test func whatTheUserHasHiddenStaysHidden() {
        let a = Self.channel("A", id: "a", url: "http://h/a?t=1")
        let b = Self.channel("B", id: "b", url: "http://h/b")
        var roster = ChannelRoster()
        let name = { (channel: ChannelList.Channel, _: Set<String>) in channel.title?.lowercased() ?? "" }
        roster.adopt(ChannelList([a, b]), name: name)
        #expect(roster.hide("a") && !roster.hide("a") && roster.count == 1 && roster.hiddenCount == 1)
        // It is gone for a while.
        roster.adopt(ChannelList([b]), name: name)
        #expect(roster.count == 1 && roster.hiddenCount == 0)
        let text = roster.text(adding: [])
        var again = ChannelRoster(stored: ChannelList(Array(text.utf8)), without: [])
        #expect(again.text(adding: []) == text && again.entries.map(\.isGone) == roster.entries.map(\.isGone))
        again.adopt(ChannelList([b, Self.channel("A", id: "a", url: "http://h/a?t=2")]), name: name)
        #expect(again.count == 1 && again.hiddenCount == 1)
    }

    @Test func aListCannotNameOrHideItsChannels() {
        let text = "#EXTM3U\n#EXTINF:-1 weir-name=\"x\" weir-hidden=\"yes\" tvg-chno=\"1\",A\nhttp://h/a\n"
        var roster = ChannelRoster()
        roster.adopt(ChannelList(Array(text.utf8))) { _, _ in "a" }
        let stored = ChannelRoster(stored: ChannelList(Array(roster.text(adding: []).utf8)), without: [])
        #expect(stored.count == 1 && stored.entries.map(\.name) == ["a"])
        #expect(stored.entries[0].channel.attributes.map(\.name) == ["tvg-chno"])
    }
}
