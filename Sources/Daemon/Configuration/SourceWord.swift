internal import HLS
internal import HTTPMessage
package import WeirAPI

/// A name or URL on a command line, in the forms in which other programs write URLs: percent-encoded as a whole, or with header
/// fields behind a `|`, as Kodi has them (`URL|Referer=…&User-Agent=…`).
package struct SourceWord {
    /// The name, or the URL alone.
    package let source: String
    package let fields: [API.Header]

    package init(_ word: String) {
        let url = PercentEncoding.decodeURL(word) ?? word
        let channel = ChannelList.Channel(line: url)
        let fields = channel.fields.compactMap { API.Header($0) }
        // A bar without fields behind it is a character of the URL.
        if fields.isEmpty {
            source = url
        } else {
            source = channel.url
        }
        self.fields = fields
    }
}
