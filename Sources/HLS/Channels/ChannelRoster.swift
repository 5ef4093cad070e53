/// The channels of one list as they are remembered from one reading of the list to the next: each has a name, which stays while the list
/// changes, and those that the user has removed stay hidden. Pure.
package struct ChannelRoster: Equatable, Sendable {
    /// A channel with its name.
    package struct Entry: Equatable, Sendable {
        package var channel: ChannelList.Channel
        package let name: String
        /// True if the user has removed it.
        package var isHidden = false
        /// True if the list does not have it any more; only hidden ones are remembered then.
        package var isGone = false
    }

    /// Counts the changes by another reading of the list.
    package struct Changes: Equatable, Sendable {
        package var added = 0
        package var gone = 0
        /// The channels that have another URL or other header fields now, as with a new token.
        package var moved: [Move] = []
    }

    /// Another URL of a channel, or other header fields.
    package struct Move: Equatable, Sendable {
        package let name: String
        package let from: ChannelList.Channel
        package let to: ChannelList.Channel
    }

    /// In the order of the list.
    package private(set) var entries: [Entry] = []
    /// The attributes of the list's first line.
    package private(set) var attributes: [ChannelList.Attribute] = []

    package init() {}

    /// The number of channels that are shown.
    package var count: Int { entries.count { !$0.isHidden } }
    /// The number of channels of the list that are hidden.
    package var hiddenCount: Int { entries.count { $0.isHidden && !$0.isGone } }

    /// Takes over a new reading of the list.
    /// - Parameters:
    ///   - name: makes a name for a new channel, which is not in the set.
    @discardableResult package mutating func adopt(
        _ list: ChannelList, name: (ChannelList.Channel, Set<String>) -> String
    ) -> Changes {
        var changes = Changes()
        let former = ChannelMatch(of: list.channels, in: entries.map(\.channel)).former
        var names = Set(entries.map(\.name))
        var found = [Bool](repeating: false, count: entries.count)
        var new: [Entry] = []
        new.reserveCapacity(list.channels.count)
        for (listed, index) in zip(list.channels, former) {
            var channel = listed
            channel.attributes.removeAll { Self.isOwn($0.name) }
            guard let index else {
                let name = name(channel, names)
                names.insert(name)
                new.append(Entry(channel: channel, name: name))
                changes.added += 1
                continue
            }
            found[index] = true
            var entry = entries[index]
            if entry.channel.url != channel.url || entry.channel.fields != channel.fields {
                changes.moved.append(Move(name: entry.name, from: entry.channel, to: channel))
            }
            entry.channel = channel
            entry.isGone = false
            new.append(entry)
        }
        for (index, entry) in entries.enumerated() where !found[index] {
            if entry.isHidden {
                var entry = entry
                entry.isGone = true
                new.append(entry)
            } else {
                changes.gone += 1
            }
        }
        entries = new
        attributes = list.attributes
        return changes
    }

    /// Hides a channel; false if none has the name.
    package mutating func hide(_ name: String) -> Bool {
        guard let index = entries.firstIndex(where: { $0.name == name && !$0.isHidden }) else { return false }
        entries[index].isHidden = true
        return true
    }

    // MARK: The file

    private static let nameKey = "weir-name"
    private static let hiddenKey = "weir-hidden"
    private static let hidden = "yes"
    private static let gone = "gone"

    private static func isOwn(_ name: String) -> Bool { name == nameKey || name == hiddenKey }

    /// The roster as a channel list, in which further attributes have the names. It has header fields, which are secret.
    /// - Parameter attributes: further ones of the first line.
    package func text(adding more: [ChannelList.Attribute]) -> String {
        let channels = entries.map { entry in
            var channel = entry.channel
            var own = [ChannelList.Attribute(name: Self.nameKey, value: entry.name)]
            if entry.isHidden {
                own.append(ChannelList.Attribute(name: Self.hiddenKey, value: entry.isGone ? Self.gone : Self.hidden))
            }
            // First, because a channel has a limited number.
            channel.attributes = own.compactMap(\.self) + channel.attributes
            return channel
        }
        return ChannelList(channels, attributes: attributes + more).text(withFields: true)
    }

    /// Reads what `text(adding:)` has written; `others` are the names of the further attributes.
    package init(stored list: ChannelList, without others: Set<String>) {
        attributes = list.attributes.filter { !others.contains($0.name) }
        for channel in list.channels {
            guard let name = channel[Self.nameKey] else { continue }
            let mark = channel[Self.hiddenKey]
            var plain = channel
            plain.attributes.removeAll { Self.isOwn($0.name) }
            entries.append(
                Entry(channel: plain, name: name, isHidden: mark != nil, isGone: mark == Self.gone))
        }
    }
}

/// Finds the channels of one reading of a list in an earlier one: by their guide ids and titles, by what of that is unique, and by the URL
/// without its query, in which a token may be another one.
struct ChannelMatch {
    /// For each channel the index of the former one; nil for a new one.
    private(set) var former: [Int?]

    init(of new: [ChannelList.Channel], in old: [ChannelList.Channel]) {
        former = [Int?](repeating: nil, count: new.count)
        var isFree = [Bool](repeating: true, count: old.count)
        let keys: [(isUnique: Bool, key: (ChannelList.Channel) -> String?)] = [
            (false, { "\($0.id ?? "")\n\($0.title ?? "")\n\($0.group ?? "")\n\($0.url)" }),
            (false, { channel in channel.id.map { "\($0)\n\(channel.title ?? "")\n\(channel.group ?? "")" } }),
            (true, { $0.id }),
            (false, { channel in channel.title.map { "\($0)\n\(channel.group ?? "")" } }),
            (false, { String($0.url.prefix { $0 != "?" }) }),
        ]
        for (isUnique, key) in keys {
            match(new, with: old, of: &isFree, isUnique: isUnique, by: key)
        }
    }

    /// Joins the channels that are not found yet with free ones of the same key, in their order.
    private mutating func match(
        _ new: [ChannelList.Channel], with old: [ChannelList.Channel], of isFree: inout [Bool], isUnique: Bool,
        by key: (ChannelList.Channel) -> String?
    ) {
        let waiting = new.indices.filter { former[$0] == nil }
        guard !waiting.isEmpty else { return }
        var known: [String: [Int]] = [:]
        for index in old.indices.reversed() where isFree[index] {
            if let key = key(old[index]) {
                known[key, default: []].append(index)
            }
        }
        var counts: [String: Int] = [:]
        if isUnique {
            for index in waiting {
                if let key = key(new[index]) {
                    counts[key, default: 0] += 1
                }
            }
        }
        for index in waiting {
            guard let key = key(new[index]) else { continue }
            let isAmbiguous = isUnique && (counts[key] != 1 || known[key]?.count != 1)
            guard !isAmbiguous, let found = known[key]?.popLast() else { continue }
            former[index] = found
            isFree[found] = false
        }
    }
}
