public import HTTPMessage
import Origin
public import Playlist
public import Store

/// Why an asset, a playlist or a resource could not be had.
public struct LibraryError: Error, CustomStringConvertible, Sendable {
    /// What kind of trouble it is, as far as the answer to a player or a user depends on it.
    public enum Code: String, Sendable {
        /// No asset, rendition or resource of that name.
        case missing
        /// Not in the store, and the origin may not be asked.
        case notStored
        /// What came in a playlist's place is none that Weir can use.
        case notPlaylist
        /// The origin answered with an error, or broke HTTP.
        case badOrigin
        /// The origin wants credentials, or refuses them: 401, 403, 410.
        case originRefused
        /// The origin cannot be reached, or is silent.
        case originAbsent
        /// A delivery directive in a player's URL makes no sense.
        case badDirective
        /// The URL may not be fetched.
        case refusedURL
        /// The store failed.
        case store
        /// What should be an image is none that is kept.
        case notArtwork
        /// The name belongs to another asset.
        case nameTaken
        /// A URL that should lead to a known asset leads to something else.
        case otherContent
        /// The URL is another asset's.
        case urlTaken
        /// The time for which the asset was to be played is over.
        case expired
        /// The time for which a key was to be used is over, or it was taken back.
        case keyLapsed
        /// A newer Weir has written the asset's bundle.
        case newerBundle
        /// Something else is done with the asset, which has to end first.
        case busy
        /// Nobody waits any more.
        case cancelled
    }

    /// The kind of trouble.
    public let code: Code
    /// A sentence for a user: what, and the cause; no secrets of a URL.
    public let message: String
    /// What the room below said.
    public let underlying: (any Error)?

    /// An error of this room's own.
    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// The store's error, as it concerns `what`.
    public init(_ error: StoreError, about what: String) {
        self.init(.store, "\(what): \(error)", underlying: error)
    }

    /// The parser's error on what came from `url`.
    public init(_ error: PlaylistError, from url: WebURL) {
        self.init(.notPlaylist, "\(url.redacted) is no playlist that can be used: \(error)", underlying: error)
    }

    /// The status with which the origin answered, where that is what went wrong.
    public var originStatus: Int? { (underlying as? OriginError)?.status }

    /// Whether other pieces of the same asset would fare no better.
    public var concernsEverything: Bool {
        switch code {
        case .originAbsent, .notStored, .originRefused, .refusedURL, .store, .expired, .keyLapsed, .newerBundle: true
        case .missing, .badOrigin, .notPlaylist, .badDirective, .nameTaken, .notArtwork, .otherContent, .urlTaken,
            .busy, .cancelled:
            false
        }
    }

    /// The sentence.
    public var description: String { message }
}
