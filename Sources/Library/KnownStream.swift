import EventLoop
public import HTTPMessage

/// A stream that the user has written down: known by name, and by nothing else until it is asked for.
public struct KnownStream: Equatable, Sendable {
    /// The name that its asset gets.
    public let name: String
    /// For display.
    public let title: String?
    /// Where it is.
    public let url: WebURL

    /// A stream; nil where the name is none that an asset may have.
    public init?(name: String, title: String?, url: WebURL) {
        guard AssetNaming.isName(name) else { return nil }
        (self.name, self.title, self.url) = (name, title, url)
    }

    /// The name that goes with a title: small letters, digits and single dashes; empty where nothing is left of it.
    public static func name(forTitle title: String) -> String { AssetNaming.slug(title[...]) }
}

extension Library {
    /// The streams of which there is no asset, neither by name nor by URL, as the user has written them down.
    public var unopenedStreams: [KnownStream] {
        streams.filter { asset(named: $0.name) == nil && asset(at: $0.url) == nil }
    }

    /// The stream of this name, unless an asset is called so.
    public func stream(named name: String) -> KnownStream? {
        asset(named: name) == nil ? streams.first { $0.name == name } : nil
    }

    /// What the user calls a URL, where that can be the name of a new asset.
    func stream(at url: WebURL) -> KnownStream? { streams.first { $0.url == url && !isTaken($0.name) } }
}
