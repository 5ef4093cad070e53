package import HLS

/// A place to read playlists from: an origin, or a folder.
package protocol CheckSource: Sendable {
    /// The identity of a playlist: equal places have equal texts.
    associatedtype Place: Hashable & Sendable

    var entry: Place { get }
    func read(_ place: Place) async -> CheckReading<Place>
    /// Resolves a URI of a playlist to a place.
    func target(of uri: String, from base: Place) -> CheckTarget<Place>
    /// Resolves a URI to a URL, nil if it is invalid. A folder resolves as if an origin served it.
    func url(of uri: String, from base: Place) -> String?
    /// The URL of a playlist, consistent with `url(of:from:)`.
    func url(_ place: Place) -> String
    /// The playlist's name in messages, without secrets.
    func name(_ place: Place) -> String
    /// The query string, for EXT-X-DEFINE:QUERYPARAM; nil if the URL has none.
    func query(_ place: Place) -> String?
    /// False if the playlists are read without their URLs, so that nothing is known about a query.
    var hasURLs: Bool { get }
}

/// A playlist as read.
package struct CheckReading<Place: Sendable>: Sendable {
    /// The text; nil if it could not be read (`findings` says why).
    package var bytes: [UInt8]?
    /// The place after redirects: the base of the playlist's URIs.
    package var base: Place
    package var findings: [PlaylistDiagnostic] = []
    /// The reason why there is no text, used if this is the entry.
    package var failure: PlaylistCheckError?
}

/// The destination of a URI.
package enum CheckTarget<Place: Sendable>: Sendable {
    /// A playlist that can be read here.
    case place(Place)
    /// A playlist that is not read. The text continues "not read: ".
    case elsewhere(String)
    /// Invalid URI.
    case invalid
}
