import Assets
import EventLoop
import HLS
import HTTPMessage
import HTTPServer
import Retention
import Store

/// Serves the channel list, by which players and televisions show all assets.
extension PlayerRoutes {
    /// Answers with all assets that play, and the streams of the streams file, as one channel list with absolute URLs.
    func serveChannels(_ exchange: Exchange) {
        guard !exchange.isFromOtherUser else {
            return refuse(exchange, LibraryError(.refusedURL, "only the owner of Weir lists its assets"))
        }
        let base = exchange.head.base + exchange.mount
        let channels = listedChannels(base: base)
        Task { @LoopActor in
            // A long list is written on another thread.
            let text = await Task.detached { Array(ChannelList(channels).text.utf8) }.value
            var representation = Representation(size: Int64(text.count), mediaType: .channelList)
            representation.fields.append(.cacheControl, literal: "no-store")
            exchange.reply(representation, .bytes(text))
        }
    }

    /// The entries of the list.
    /// - Parameter base: the scheme, the authority and the mount of Weir's URLs.
    private func listedChannels(base: String) -> [ChannelList.Channel] {
        let streams = Dictionary(library.streams.map { ($0.url, $0) }) { first, _ in first }
        var channels: [(name: String, channel: ChannelList.Channel)] = []
        for asset in library.assets where asset.refusal == nil && (try? retention.checkExpiry(of: asset)) != nil {
            var channel = ChannelList.Channel(url: "\(base)/\(PercentEncoding.encode(asset.name)).m3u8")
            channel.id = asset.name
            channel.title = asset.title ?? asset.name
            let stream = streams[asset.origin]
            channel.logo = stream?.logo
            channel.group = stream?.group
            let duration = asset.isLoaded ? asset.duration : library.summaries?.summary(of: asset)?.duration
            channel.duration = duration.map { MediaDuration(seconds: $0) }
            channels.append((asset.name, channel))
        }
        for stream in library.unopenedStreams {
            var channel = ChannelList.Channel(url: "\(base)/\(PercentEncoding.encode(stream.name)).m3u8")
            channel.id = stream.name
            channel.title = stream.title ?? stream.name
            channel.logo = stream.logo
            channel.group = stream.group
            channels.append((stream.name, channel))
        }
        return channels.sorted { $0.name < $1.name }.map(\.channel)
    }
}
