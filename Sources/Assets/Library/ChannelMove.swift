package import HTTPMessage
package import Origin

/// Another URL, or other header fields, that the user's list has for a channel now.
package struct ChannelMove: Sendable {
    package let from: WebURL
    /// The header fields that the list had for the channel; nil without any.
    package let fields: UserFields?
    /// The channel as the list has it now.
    package let stream: KnownStream

    package init(from: WebURL, fields: UserFields?, to stream: KnownStream) {
        self.from = from
        self.fields = fields
        self.stream = stream
    }
}
