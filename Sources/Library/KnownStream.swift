import EventLoop
public import HTTPMessage

/// A stream of the user's streams file. It has a name, but no asset until it is first opened.
public struct KnownStream: Equatable, Sendable {
    /// The name of its asset.
    public let name: String
    /// For display.
    public let title: String?
    /// The URL of the stream.
    public let url: WebURL

    /// Creates a stream; nil if the name is no valid asset name.
    public init?(name: String, title: String?, url: WebURL) {
        guard AssetNaming.isName(name) else { return nil }
        (self.name, self.title, self.url) = (name, title, url)
    }

    /// Makes a name from a title: lower-case letters, digits and single dashes; empty if nothing is left.
    public static func name(forTitle title: String) -> String { AssetNaming.slug(title[...]) }
}

extension Library {
    /// The streams that have no asset, by name or by URL, in the order of the streams file.
    public var unopenedStreams: [KnownStream] {
        streams.filter { asset(named: $0.name) == nil && asset(at: $0.url) == nil }
    }

    /// Returns the stream with this name, unless an asset has the name.
    public func stream(named name: String) -> KnownStream? {
        asset(named: name) == nil ? streams.first { $0.name == name } : nil
    }

    /// Returns the stream with a URL, if its name is free for a new asset.
    func stream(at url: WebURL) -> KnownStream? { streams.first { $0.url == url && !isTaken($0.name) } }
}
