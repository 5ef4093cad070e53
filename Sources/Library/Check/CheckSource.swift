import Playlist

/// Where a check reads playlists from: an origin, or a folder.
protocol CheckSource: Sendable {
    /// Where a playlist is: two are equal where their texts must be.
    associatedtype Place: Hashable & Sendable

    /// The playlist that the user named.
    var entry: Place { get }
    /// Reads a text.
    func read(_ place: Place) async -> CheckReading<Place>
    /// Where a URI of a playlist leads.
    func target(of uri: String, from base: Place) -> CheckTarget<Place>
    /// The URL that a URI means; nil for none. Where there is no origin, as if there were one.
    func url(of uri: String, from base: Place) -> String?
    /// The URL of a playlist, as `url(of:from:)` has it.
    func url(_ place: Place) -> String
    /// What a playlist is called in messages: without secrets.
    func name(_ place: Place) -> String
    /// What EXT-X-DEFINE's QUERYPARAM draws on; nil without a query.
    func query(_ place: Place) -> String?
}

/// What came when a playlist was asked for.
struct CheckReading<Place: Sendable>: Sendable {
    /// The text; nil where none came, which `findings` then explain.
    var bytes: [UInt8]?
    /// Where it came from in the end: the base of its URIs.
    var base: Place
    /// What there is to say of how it came.
    var findings: [PlaylistDiagnostic] = []
    /// Why no text came, for the case that it is the entry.
    var failure: LibraryError?
}

/// Where a URI leads.
enum CheckTarget<Place: Sendable>: Sendable {
    /// To a playlist that can be read here.
    case place(Place)
    /// To one that is not read; the reason follows "not read: ".
    case elsewhere(String)
    /// Nowhere: the URI is none.
    case nowhere
}
