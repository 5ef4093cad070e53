import Assets
import EventLoop
import HLS
import HTTPMessage
import HTTPServer
import Retention
import Store

/// Serves channel lists: that of all assets and channels, by which players and televisions show them, and one at an origin's URL.
extension PlayerRoutes {
    /// Answers with all assets that play, the streams of the streams file, and the channels of the user's lists, as one channel list with
    /// absolute URLs.
    func serveChannels(_ exchange: Exchange) {
        guard !exchange.isFromOtherUser else {
            return refuse(exchange, LibraryError(.refusedURL, "only the owner of Weir lists its assets"))
        }
        let base = exchange.head.base + exchange.mount
        Task { @LoopActor in
            await library.waitForLists()
            let assets = await listedAssets(base: base)
            let streams = library.streams
            let listed = library.listed
            // A long list is written on another thread.
            let text = await Task.detached { Self.text(of: assets, streams, listed, base: base) }.value
            var representation = Representation(size: Int64(text.count), mediaType: .channelList)
            representation.fields.append(.cacheControl, literal: "no-store")
            exchange.reply(representation, .bytes(text))
        }
    }

    /// The assets of the list, and what they hide of the streams.
    private struct ListedAssets: Sendable {
        var channels: [(name: String, channel: ChannelList.Channel)] = []
        var names: Set<String> = []
        var urls: Set<WebURL> = []
    }

    private func listedAssets(base: String) async -> ListedAssets {
        let streams = Dictionary(library.streams.map { ($0.url, $0) }) { first, _ in first }
        var listed = ListedAssets()
        var slice = LoopSlice()
        for asset in library.assets {
            await slice.giveWay()
            listed.names.insert(asset.name)
            if !asset.isChannelRecording {
                listed.urls.insert(asset.origin)
            }
            guard asset.refusal == nil, (try? retention.checkExpiry(of: asset)) != nil, mayPlay(asset) else { continue }
            let stream = streams[asset.origin] ?? library.listed.channel(at: asset.origin)
            var channel = Self.channel(named: asset.name, base: base)
            // A television guide lists what a channel sends now. A recording has what it sent once.
            if let stream, !asset.isChannelRecording {
                Self.describe(&channel, by: stream, base: base)
            }
            channel.title = asset.title ?? channel.title
            let duration = asset.isLoaded ? asset.duration : library.summaries?.summary(of: asset)?.duration
            channel.duration = duration.map { MediaDuration(seconds: $0) }
            listed.channels.append((asset.name, channel))
        }
        return listed
    }

    /// False for what is left of a download or recording that got nothing.
    private func mayPlay(_ asset: Asset) -> Bool {
        let bytes = asset.isLoaded ? asset.bytes : library.summaries?.summary(of: asset)?.bytes
        guard bytes == 0 else { return true }
        if asset.isChannelRecording {
            return library.isFetched(asset)
        }
        return !(library.downloads?.hasFailed(asset) ?? false)
    }

    private nonisolated static func text(
        of assets: ListedAssets, _ streams: [KnownStream], _ listed: ListedChannels, base: String
    ) -> [UInt8] {
        var channels = assets.channels
        var names = assets.names
        for stream in streams + listed.channels {
            guard !assets.urls.contains(stream.url), names.insert(stream.name).inserted else { continue }
            var channel = channel(named: stream.name, base: base)
            describe(&channel, by: stream, base: base)
            channels.append((stream.name, channel))
        }
        let guides = listed.guides.joined(separator: ",")
        var attributes: [ChannelList.Attribute] = []
        if !guides.isEmpty {
            // Players know the one or the other.
            let both = ["url-tvg", "x-tvg-url"].map { ChannelList.Attribute(name: $0, value: guides) }
            attributes = both.compactMap(\.self)
        }
        let sorted = channels.sorted { $0.name < $1.name }.map(\.channel)
        return Array(ChannelList(sorted, attributes: attributes).text.utf8)
    }

    private nonisolated static func channel(named name: String, base: String) -> ChannelList.Channel {
        var channel = ChannelList.Channel(url: "\(base)/\(PercentEncoding.encode(name)).m3u8")
        channel.id = name
        channel.title = name
        return channel
    }

    private nonisolated static func describe(
        _ channel: inout ChannelList.Channel, by stream: KnownStream, base: String
    ) {
        channel.title = stream.title ?? channel.title
        channel.id = stream.guideID ?? channel.id
        channel.logo = stream.logo
        channel.group = stream.group
        channel.attributes = stream.attributes.compactMap { attribute in
            guard attribute.name == "catchup-source", attribute.value.hasPrefix("http") else { return attribute }
            // Its braces are filled in by the player.
            return ChannelList.Attribute(
                name: attribute.name, value: base + Route.listedPrefix + attribute.value)
        }
    }

    // MARK: A list at an origin's URL

    /// Answers with a list that came where a stream should be. Each entry leads through Weir.
    func serveList(_ list: FetchedChannelList, to exchange: Exchange) {
        let base = exchange.head.base + exchange.mount
        let isWhole = exchange.mount.isEmpty && list.isNamed
        Task { @LoopActor in
            let text = await PureWork.shared.run(size: list.text.count, for: list) {
                ChannelList.replacingURLs(in: list.text) { Self.url($0, of: list, base: base, mayBePrivate: isWhole) }
            }
            var representation = Representation(size: Int64(text?.count ?? 0), mediaType: .channelList)
            representation.fields.append(.cacheControl, literal: "no-store")
            exchange.reply(representation, .bytes(text ?? []))
        }
    }

    /// The URL of an entry through Weir; the origin's own for what is no HLS.
    private nonisolated static func url(
        _ text: String, of list: FetchedChannelList, base: String, mayBePrivate: Bool
    ) -> String {
        guard !text.hasPrefix(base), let url = try? list.url.resolving(text), !url.needsHandler else { return text }
        // A user name and a password are no part of a resolved URL.
        let whole = WebURL.isRelative(text) ? url.text : text
        guard ForeignFormat(url: url.text) == nil else { return whole }
        let isNamed = mayBePrivate && KnownStream.isNamed(url, by: list.asked)
        let prefix = isNamed ? "/" : Route.listedPrefix
        return base + prefix + whole
    }

    // MARK: Catch-up

    /// The URL of a channel's earlier broadcast, for which a player has added a query to the channel's URL; nil for no such request.
    func catchUp(_ exchange: Exchange, named name: String) -> KnownStream? {
        guard let rest = asksForPast(exchange),
            let channel = library.listed.channel(named: name) ?? listedChannel(ofAsset: name),
            channel.attributes.contains(where: { $0.name.hasPrefix("catchup") }),
            var stream = KnownStream(
                name: channel.name, title: channel.title,
                url: channel.url.replacingQuery([channel.url.query, rest].compactMap(\.self).joined(separator: "&")))
        else { return nil }
        stream.namesHost = channel.namesHost
        return stream
    }

    /// The query that a player has added to a channel's URL; nil for none.
    func asksForPast(_ exchange: Exchange) -> String? {
        guard let added = CMCD.removed(from: exchange.head.query), !added.isEmpty,
            let (_, rest) = try? DeliveryDirectives.split(added), let rest, !rest.isEmpty
        else { return nil }
        return rest
    }

    private func listedChannel(ofAsset name: String) -> KnownStream? {
        guard let asset = library.asset(named: name), !asset.isChannelRecording else { return nil }
        return library.listed.channel(at: asset.origin)
    }

    /// The duration of an asset in seconds; nil if it is not known. Does not load the asset.
    private func duration(of asset: Asset) -> Double? {
        guard !asset.isLoaded else { return asset.duration }
        return library.summaries?.summary(of: asset)?.duration
    }
}
