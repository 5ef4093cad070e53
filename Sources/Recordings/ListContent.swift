import Assets
import HLS
import HTTPMessage
import Origin

/// The entries of a list when it was read last, and the streams that are made of them. Immutable, and made on another thread.
final class ListContent: Sendable {
    let roster: ChannelRoster
    /// The URL of the list after redirects, against which the URLs of its channels are resolved.
    let base: WebURL
    /// The class of the first address of the list's host; nil if it is not known.
    let hostClass: HostClass?
    /// In seconds since 1970.
    let fetched: Int64
    /// In the order of the list, without those that are hidden or cannot play.
    let channels: [KnownStream]
    let guides: [String]
    /// The number of entries that are no HLS.
    let leftOut: Int

    init(_ roster: ChannelRoster, of list: KnownList, base: WebURL, hostClass: HostClass?, fetched: Int64) {
        self.roster = roster
        self.base = base
        self.hostClass = hostClass
        self.fetched = fetched
        let secrets = list.secrets
        var channels: [KnownStream] = []
        var leftOut = 0
        for entry in roster.entries where !entry.isHidden {
            guard let channel = Self.stream(entry, of: list, base: base, hostClass: hostClass, secrets) else {
                leftOut += 1
                continue
            }
            channels.append(channel)
        }
        self.channels = channels
        self.leftOut = leftOut
        guides = Self.guides(in: roster.attributes, base, secrets)
    }

    /// The content with one more channel hidden. The streams of the others are taken as they are.
    private init(_ former: ListContent, _ roster: ChannelRoster, without name: String) {
        self.roster = roster
        base = former.base
        hostClass = former.hostClass
        fetched = former.fetched
        channels = former.channels.filter { $0.name != name }
        guides = former.guides
        // A channel that cannot play may be hidden as well.
        leftOut = roster.count - channels.count
    }

    /// The content with a channel hidden; nil if no channel that is shown has the name.
    func hiding(_ name: String) -> ListContent? {
        var roster = roster
        guard roster.hide(name) else { return nil }
        return ListContent(self, roster, without: name)
    }

    /// The stream of an entry; nil if it is no HLS.
    private static func stream(
        _ entry: ChannelRoster.Entry, of list: KnownList, base: WebURL, hostClass: HostClass?,
        _ secrets: ListSecrets
    ) -> KnownStream? {
        let channel = entry.channel
        guard !channel.isDASH, let url = try? base.resolving(channel.url), !url.needsHandler,
            ForeignFormat(url: url.text) == nil,
            var stream = KnownStream(name: entry.name, title: channel.title, url: url)
        else { return nil }
        stream.list = list.name
        stream.namesHost = KnownStream.isNamed(url, by: list.url)
        if url.host == list.url.host {
            stream.hostClass = hostClass
        }
        stream.guideID = channel.id
        stream.group = channel.group
        if let logo = channel.logo, let picture = try? base.resolving(logo), !secrets.areIn(logo) {
            stream.logo = picture.text
        }
        stream.attributes = channel.attributes.filter { !secrets.areIn($0.value) }
        stream.fields = fields(of: channel, at: url)
        return stream
    }

    /// The header fields that the list has for a channel, those of its user name and password among them; nil without any.
    static func fields(of channel: ChannelList.Channel, at url: WebURL) -> UserFields? {
        var lines = channel.fields
        let isGiven = lines.contains { $0.lowercased().hasPrefix("authorization:") }
        if let field = url.authorization, !isGiven {
            lines.append("\(field.name): \(field.value)")
        }
        guard !lines.isEmpty else { return nil }
        return try? UserFields(lines)
    }

    private static let guideKeys = ["url-tvg", "x-tvg-url", "tvg-url"]

    private static func guides(
        in attributes: [ChannelList.Attribute], _ base: WebURL, _ secrets: ListSecrets
    ) -> [String] {
        var guides: [String] = []
        for attribute in attributes where guideKeys.contains(attribute.name) {
            for part in attribute.value.split(separator: ",") {
                guard !secrets.areIn(String(part)), let url = try? base.resolving(String(part)),
                    !guides.contains(url.text)
                else { continue }
                guides.append(url.text)
            }
        }
        return guides
    }

    // MARK: The file

    private static let fetchedKey = "weir-fetched"
    private static let baseKey = "weir-base"
    private static let hostKey = "weir-host"

    /// The content as a channel list. It has secrets.
    var text: [UInt8] {
        let facts = [
            ChannelList.Attribute(name: Self.fetchedKey, value: "\(fetched)"),
            ChannelList.Attribute(name: Self.baseKey, value: base.text),
            ChannelList.Attribute(name: Self.hostKey, value: hostClass?.rawValue ?? ""),
        ]
        return Array(roster.text(adding: facts.compactMap(\.self)).utf8)
    }

    /// Reads what `text` has written; nil for anything else.
    convenience init?(stored text: [UInt8], of list: KnownList) {
        let stored = ChannelList(text)
        func value(_ key: String) -> String? { stored.attributes.first { $0.name == key }?.value }
        guard let time = value(Self.fetchedKey), let fetched = Int64(time), let address = value(Self.baseKey),
            let base = try? WebURL(address)
        else { return nil }
        let roster = ChannelRoster(stored: stored, without: [Self.fetchedKey, Self.baseKey, Self.hostKey])
        let hostClass = value(Self.hostKey).flatMap { HostClass(rawValue: $0) }
        self.init(roster, of: list, base: base, hostClass: hostClass, fetched: fetched)
    }
}

/// Makes names for the channels of a list that are new: from the title, or else from the URL. Pure.
struct ChannelNames {
    private let taken: Set<String>
    /// The next number for a name that several channels would have.
    private var numbers: [String: Int] = [:]

    /// - Parameter taken: the names of assets, streams and the channels of other lists.
    init(taken: Set<String>) { self.taken = taken }

    /// - Parameter own: the names of the list's channels so far.
    mutating func name(for channel: ChannelList.Channel, besides own: Set<String>) -> String {
        let base = Self.base(for: channel)
        var number = numbers[base] ?? 1
        while true {
            let name = number == 1 ? base : "\(base)-\(number)"
            number += 1
            guard taken.contains(name) || own.contains(name) else {
                numbers[base] = number
                return name
            }
        }
    }

    private static func base(for channel: ChannelList.Channel) -> String {
        let title = KnownStream.name(forTitle: channel.title ?? "")
        // A number alone says little.
        let isWord = title.contains { $0.isLetter }
        var base = title
        if !isWord {
            base = AssetNaming.name(forPath: String(channel.url.prefix { $0 != "?" }))
        }
        // With room for a number.
        return AssetNaming.slug(base.prefix(AssetNaming.longest - numberLength))
    }

    private static let numberLength = "-999999".utf8.count
}
