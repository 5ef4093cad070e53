internal import HLS
package import WeirAPI

/// A file with streams: a channel list, or URLs with options, one a line.
package enum ChannelFile {
    /// A stream of a channel list.
    package struct Channel: Sendable {
        package let stream: API.Stream
        /// Line number of its URL, from 1.
        package let line: Int
        /// The reason, as a sentence, why it cannot be used; nil if it can, as far as is known.
        package let refusal: String?
    }

    case channels([Channel])
    /// An HLS playlist, which is one stream and no list.
    case playlist
    /// The lines that are neither empty nor comments, with their numbers from 1.
    case lines([(number: Int, text: String)])

    /// Most bytes of a file.
    package static let limit = 32 << 20

    package init(_ bytes: [UInt8]) {
        guard !ChannelList.isMeant(by: bytes) else {
            if ChannelList.isHLS(bytes) {
                self = .playlist
            } else {
                self = .channels(ChannelList(bytes).channels.map(Self.channel))
            }
            return
        }
        let lines = String(decoding: bytes, as: UTF8.self)
            .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
            .map { (number: $0.offset + 1, text: $0.element.drop { $0.isWhitespace || $0 == "\u{FEFF}" }) }
        self = .lines(
            lines.filter { !$0.text.isEmpty && !$0.text.hasPrefix("#") }.map { ($0.number, String($0.text)) })
    }

    private static func channel(_ channel: ChannelList.Channel) -> Channel {
        var stream = API.Stream(url: channel.url)
        stream.title = channel.title
        stream.logo = channel.logo
        stream.group = channel.group
        stream.guideID = channel.id
        if !channel.attributes.isEmpty {
            stream.attributes = channel.attributes.map { "\($0.name)=\($0.value)" }
        }
        let headers = channel.fields.compactMap { API.Header($0) }
        if !headers.isEmpty {
            stream.headers = headers
        }
        let refusal = channel.isDASH ? "it is MPEG-DASH, and Weir plays HLS only" : nil
        return Channel(stream: stream, line: channel.line, refusal: refusal)
    }
}
