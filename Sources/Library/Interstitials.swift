public import HTTPMessage

/// What an asset's playlists name to be played in between (rfc8216bis appendix D), by names of ours.
///
/// A name is made of the URL alone, so that it is the same in each playlist and each process. What was named long ago
/// is forgotten: a live stream may name something new for days.
public struct Interstitials {
    /// What a URL leads to; the raw value is the extension that its name has.
    public enum Kind: String, Sendable {
        /// A presentation (X-ASSET-URI).
        case presentation = "m3u8"
        /// A list of presentations in JSON (X-ASSET-LIST).
        case list = "json"
    }

    /// The name of an interstitial in players' URLs, such as `1k3f9z.m3u8`.
    public struct Name: Hashable, Sendable, CustomStringConvertible {
        /// What it leads to.
        public let kind: Kind
        private let number: UInt64

        init(_ url: WebURL, _ kind: Kind) {
            self.kind = kind
            number = Fingerprint.of(Array(url.text.utf8))
        }

        /// Reads a name as `description` writes it, and nothing else.
        public init?(_ text: String) {
            let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard parts.count == 2, let kind = Kind(rawValue: String(Substring(parts[1]))),
                let number = UInt64(String(Substring(parts[0])), radix: 36)
            else { return nil }
            (self.kind, self.number) = (kind, number)
            guard description == text else { return nil }
        }

        /// The name.
        public var description: String { "\(String(number, radix: 36)).\(kind.rawValue)" }
    }

    /// In players' URLs, where a rendition's name stands otherwise.
    public static let folder = "interstitials"

    private var urls: [Name: WebURL] = [:]
    private var order: [Name] = []
    private static let limit = 1024

    /// The name of what is at a URL, which leads there from now on.
    public mutating func name(_ url: WebURL, _ kind: Kind) -> Name {
        let name = Name(url, kind)
        if urls.updateValue(url, forKey: name) == nil { order.append(name) }
        if order.count > Self.limit { urls[order.removeFirst()] = nil }
        return name
    }

    /// Where a name leads; nil for one that nothing was given, or that was forgotten.
    func url(_ name: Name) -> WebURL? { urls[name] }
}
