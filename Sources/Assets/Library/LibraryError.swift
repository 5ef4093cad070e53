public import Fetching
public import HLS
public import HTTPMessage
public import Origin
public import Store

/// The error of an operation on an asset, a playlist or a resource.
public struct LibraryError: Error, CustomStringConvertible, Sendable {
    /// The kind of error, as far as the response to a player or a user depends on it.
    public enum Code: String, Sendable, CaseIterable {
        /// No asset, rendition or resource has that name.
        case missing
        /// Not in the store, and the origin may not be asked.
        case notStored
        /// The response is no playlist that Weir can use.
        case notPlaylist
        /// The origin answered with an error, or violated HTTP.
        case badOrigin
        /// The origin requires credentials, or refuses them: 401, 403, 410.
        case originRefused
        /// The origin cannot be reached, or does not respond.
        case originAbsent
        /// The host refuses connections, or has no address, while other hosts answer.
        case hostDead
        /// Invalid delivery directive in a player's URL.
        case badDirective
        /// The URL may not be fetched.
        case refusedURL
        /// The store failed.
        case store
        /// The data is no accepted image.
        case notArtwork
        /// The name belongs to another asset.
        case nameTaken
        /// The URL should lead to a known asset, but leads to other content.
        case otherContent
        /// The URL belongs to another asset.
        case urlTaken
        /// The asset's retention period is over.
        case expired
        /// The key has expired, or was revoked.
        case keyExpired
        /// A key does not decrypt the segments that it belongs to.
        case keyUnfit
        /// A newer Weir has written the asset's bundle.
        case newerBundle
        /// Another operation on the asset must end first.
        case busy
        /// No caller waits any more.
        case cancelled
    }

    /// The kind of error.
    public let code: Code
    /// A sentence for a user: what failed, and the cause; without the secrets of a URL.
    public let message: String
    /// The error of the lower layer.
    public let underlying: (any Error)?
    /// The format of what is no HLS; nil if it is not known, and for other errors.
    public var foreign: ForeignFormat?
    /// The channel list that came where a stream should be; nil for other errors.
    public var channelList: FetchedChannelList?

    /// Creates an error of the library's own.
    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// Creates an error from a store error. `what` is the beginning of the sentence: "the artwork of film cannot be stored".
    public init(_ error: StoreError, about what: String) { self.init(.store, "\(what): \(error)", underlying: error) }

    /// Creates an error from a parser error about the playlist at `url`.
    public init(_ error: PlaylistError, from url: WebURL) {
        self.init(.notPlaylist, "\(url.redacted) is no playlist that can be used: \(error)", underlying: error)
    }

    /// Creates an error from a fetch error: each code of that room is one of this room.
    public init(_ error: FetchError) {
        let code: Code =
            switch error.code {
            case .missing: .missing
            case .notStored: .notStored
            case .badOrigin: .badOrigin
            case .originRefused: .originRefused
            case .originAbsent: .originAbsent
            case .hostDead: .hostDead
            case .refusedURL: .refusedURL
            case .store: .store
            case .cancelled: .cancelled
            }
        self.init(code, error.message, underlying: error.underlying)
    }

    /// Creates an error from an origin error.
    public init(_ error: OriginError) { self.init(FetchError(error)) }

    /// The status of the origin's response, if that is the error.
    public var originStatus: Int? { (underlying as? OriginError)?.status }

    /// True if the origin did not answer, because the network is lost or because its host is dead.
    public var isUnanswered: Bool { code == .originAbsent || code == .hostDead }

    /// True if other resources of the same asset would fail as well.
    public var concernsEverything: Bool {
        switch code {
        case .originAbsent, .notStored, .originRefused, .refusedURL, .store, .expired, .keyExpired, .newerBundle: true
        case .missing, .badOrigin, .hostDead, .notPlaylist, .badDirective, .nameTaken, .notArtwork, .otherContent,
            .urlTaken, .keyUnfit, .busy, .cancelled:
            false
        }
    }

    /// The message.
    public var description: String { message }
}
