public import HTTPMessage

/// Maps interstitials of an asset's playlists (rfc8216bis appendix D) to names in Weir's own URLs. A name depends only
/// on the URL; in an imported bundle it is that of the file. The oldest entries are dropped: a live stream may name new URLs for days.
public struct Interstitials {
    /// The kind of resource at a URL; the raw value is the extension of its name.
    public enum Kind: String, Sendable {
        /// A presentation (X-ASSET-URI).
        case presentation = "m3u8"
        /// A list of presentations in JSON (X-ASSET-LIST).
        case list = "json"
    }

    /// The name of an interstitial in players' URLs, such as `1k3f9z.m3u8`.
    public struct Name: Hashable, Sendable, CustomStringConvertible {
        /// The kind of resource.
        public let kind: Kind
        private let number: UInt64

        init(_ url: WebURL, _ kind: Kind) {
            if let name = Self.placeholder(url), name.kind == kind {
                self = name
                return
            }
            self.kind = kind
            number = Fingerprint.of(Array(url.text.utf8))
        }

        /// The name in the playlist of an imported bundle, whose URIs lead to files of the bundle.
        private static func placeholder(_ url: WebURL) -> Name? {
            guard url.isPlaceholder else { return nil }
            let parts = url.path.split(separator: "/")
            guard parts.count == 3, parts[1] == Interstitials.folder else { return nil }
            return Name(String(parts[2]))
        }

        /// Parses a name exactly as `description` writes it.
        public init?(_ text: String) {
            let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard parts.count == 2, let kind = Kind(rawValue: String(Substring(parts[1]))),
                let number = UInt64(String(Substring(parts[0])), radix: 36)
            else { return nil }
            self.kind = kind
            self.number = number
            guard description == text else { return nil }
        }

        /// The name.
        public var description: String { "\(stem).\(kind.rawValue)" }
        /// The name without its extension: lower-case letters and digits.
        package var stem: String { String(number, radix: 36) }
    }

    /// In players' URLs, stands in the place of a rendition's name.
    public static let folder = "interstitials"
    private var urls: [Name: WebURL] = [:]
    private var order: [Name] = []
    private static let limit = 1024

    /// Returns the name of a URL, and records the URL for the name.
    public mutating func name(_ url: WebURL, _ kind: Kind) -> Name {
        let name = Name(url, kind)
        if urls.updateValue(url, forKey: name) == nil {
            order.append(name)
        }
        if order.count > Self.limit {
            urls[order.removeFirst()] = nil
        }
        return name
    }

    /// Returns the URL of a name; nil if the name was never given, or was dropped.
    package func url(_ name: Name) -> WebURL? { urls[name] }
}
