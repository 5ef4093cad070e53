public import HTTPMessage
import Origin

/// The channels of all the user's lists, of which none has an asset before it is opened. It is made as a whole on another thread, since
/// there may be 100,000, and never changed.
public final class ListedChannels: Sendable {
    /// Sorted by name.
    public let channels: [KnownStream]
    /// The URLs of guides for players, without passwords.
    public let guides: [String]
    private let byName: [String: Int32]
    private let byURL: [WebURL: Int32]

    /// Creates an index. Of two channels with one name or URL, the first one is found by it.
    package init(_ channels: [KnownStream] = [], guides: [String] = []) {
        let sorted = channels.sorted { $0.name < $1.name }
        var byName: [String: Int32] = [:]
        var byURL: [WebURL: Int32] = [:]
        byName.reserveCapacity(sorted.count)
        byURL.reserveCapacity(sorted.count)
        for (index, channel) in sorted.enumerated() {
            let number = Int32(clamping: index)
            if byName[channel.name] == nil {
                byName[channel.name] = number
            }
            if byURL[channel.url] == nil {
                byURL[channel.url] = number
            }
        }
        self.channels = sorted
        self.guides = guides
        self.byName = byName
        self.byURL = byURL
    }

    /// Returns the channel with this name.
    public func channel(named name: String) -> KnownStream? {
        guard let index = byName[name] else { return nil }
        return channels[Int(index)]
    }

    /// Returns the channel with this URL.
    public func channel(at url: WebURL) -> KnownStream? {
        guard let index = byURL[url] else { return nil }
        return channels[Int(index)]
    }
}

extension KnownStream {
    /// True if the user's URL of a list names the host of a channel too, so that it may be private: as for the URL of a stream, on the
    /// same port, or on 80 and 443 of another machine.
    public static func isNamed(_ channel: WebURL, by list: WebURL) -> Bool {
        guard channel.host == list.host else { return false }
        if channel.port == list.port {
            return true
        }
        return !HostClass.isLoopback(channel.host) && [80, 443].contains(channel.port)
    }
}

/// A channel list that came where a stream should be.
public final class FetchedChannelList: Sendable {
    /// The URL that was asked for.
    public let asked: WebURL
    /// The URL after redirects.
    public let url: WebURL
    /// True if the user gave the URL.
    public let isNamed: Bool
    /// The list's text.
    public let text: [UInt8]

    init(asked: WebURL, url: WebURL, isNamed: Bool, text: [UInt8]) {
        self.asked = asked
        self.url = url
        self.isNamed = isNamed
        self.text = text
    }
}
