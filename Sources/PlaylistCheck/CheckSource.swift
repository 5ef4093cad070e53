package import HLS

/// A source to read playlists from: an origin, or a folder.
package protocol CheckSource: Sendable {
    /// The identity of a playlist: equal locations have equal texts.
    associatedtype Location: Hashable & Sendable

    var entry: Location { get }
    func read(_ location: Location) async -> CheckReading<Location>
    /// Resolves a URI of a playlist to a location.
    func target(of uri: String, from base: Location) -> CheckTarget<Location>
    /// Resolves a URI to a URL, nil if it is invalid. A folder resolves as if an origin served it.
    func url(of uri: String, from base: Location) -> String?
    /// The URL of a playlist, consistent with `url(of:from:)`.
    func url(_ location: Location) -> String
    /// The playlist's name in messages, without secrets.
    func name(_ location: Location) -> String
    /// The query string, for EXT-X-DEFINE:QUERYPARAM; nil if the URL has none.
    func query(_ location: Location) -> String?
    /// False if the playlists are read without their URLs, so that nothing is known about a query.
    var hasURLs: Bool { get }
}

/// A playlist as read.
package struct CheckReading<Location: Sendable>: Sendable {
    /// The text; nil if it could not be read (`findings` says why).
    package var bytes: [UInt8]?
    /// The location after redirects: the base of the playlist's URIs.
    package var base: Location
    package var findings: [PlaylistDiagnostic] = []
    /// The reason why there is no text, used if this is the entry.
    package var failure: PlaylistCheckError?
}

/// The destination of a URI.
package enum CheckTarget<Location: Sendable>: Sendable {
    /// A playlist that can be read here.
    case location(Location)
    /// A playlist that is not read. The text continues "not read: ".
    case elsewhere(String)
    /// Invalid URI.
    case invalid
}
