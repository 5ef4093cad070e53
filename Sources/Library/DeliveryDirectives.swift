import HTTPMessage
import Playlist

/// The delivery directives that a player puts into the query of a live playlist's URL (rfc8216bis §6.2.5).
public struct DeliveryDirectives: Hashable, Sendable {
    /// `_HLS_skip`: the player has an earlier version of the playlist and asks for a delta update.
    public enum Skip: String, Sendable {
        /// Segments may be left out.
        case segments = "YES"
        /// Segments and date ranges may be left out.
        case segmentsAndDateRanges = "v2"
    }

    /// `_HLS_msn`: the response waits for the segment with this media sequence number.
    public private(set) var mediaSequenceNumber: Int?
    /// `_HLS_part`: the response waits for the part with this Part Index of that segment.
    public private(set) var part: Int?
    /// The kind of delta update that the player accepts; nil for a full playlist.
    public private(set) var skip: Skip?

    /// No directives: a request of the current playlist.
    public static let none = DeliveryDirectives()

    private init() {}

    /// Splits the query of a player's URL into the directives and the origin's own query.
    ///
    /// - Throws: `badDirective` for an invalid value, and for a part without a segment (rfc8216bis §6.2.5.2).
    public static func split( query: String?) throws(LibraryError) -> (DeliveryDirectives, rest: String?) {
        var directives = DeliveryDirectives()
        guard let query, query.utf8.contains(UInt8(ascii: "_")) else { return (directives, query) }
        var rest: [Substring] = []
        for parameter in query.split(separator: "&", omittingEmptySubsequences: false) {
            if try !directives.read(parameter) { rest.append(parameter) }
        }
        if directives.part != nil, directives.mediaSequenceNumber == nil {
            throw LibraryError(.badDirective, "_HLS_part makes no sense without _HLS_msn")
        }
        return (directives, rest.isEmpty ? nil : rest.joined(separator: "&"))
    }

    /// Reads a parameter. Returns true if it is a directive.
    private mutating func read(_ parameter: Substring) throws(LibraryError) -> Bool {
        let name = parameter.prefix { $0 != "=" }
        let value = parameter.dropFirst(name.count + 1)
        switch name {
        case "_HLS_msn": mediaSequenceNumber = try Self.number(value, of: name)
        case "_HLS_part": part = try Self.number(value, of: name)
        case "_HLS_skip": skip = Skip(rawValue: String(value))  // Undefined values are ignored.
        default: return false
        }
        return true
    }

    private static func number(_ text: Substring, of name: Substring) throws(LibraryError) -> Int {
        let isDecimal = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isDecimal, let number = Int(text), number <= Int.max / 4 else {
            throw LibraryError(.badDirective, "\(name) is not a decimal integer")
        }
        return number
    }

    /// Returns the URL with these directives appended to its query, sorted by name as caches need them.
    func added(to url: WebURL) -> WebURL {
        let parameters = [
            mediaSequenceNumber.map { "_HLS_msn=\($0)" }, part.map { "_HLS_part=\($0)" },
            skip.map { "_HLS_skip=\($0.rawValue)" },
        ].compactMap { $0 }
        return url.adding(parameters)
    }

    // MARK: Use by a server

    /// Returns only the directives that the origin of a playlist supports.
    func understood(by playlist: MediaPlaylist) -> DeliveryDirectives {
        guard playlist.isLive, let control = playlist.serverControl else { return .none }
        var understood = self
        if !control.canBlockReload { (understood.mediaSequenceNumber, understood.part) = (nil, nil) }
        if control.canSkipUntil == nil { understood.skip = nil }
        return understood
    }

    /// True if a playlist already contains the segment or part to wait for.
    func areMet(by playlist: MediaPlaylist) -> Bool {
        guard let number = mediaSequenceNumber, playlist.isLive else { return true }
        let end = playlist.endSequenceNumber
        guard let part else { return number < end }
        if number + 1 < end { return true }
        // A part number beyond the last part of a complete segment means the first part of the next segment.
        let count = playlist.parts.count { $0.mediaSequenceNumber == number }
        if part < count || (number < end && count == 0) { return true }
        return number < end && playlist.parts.contains { $0.mediaSequenceNumber == end }
    }
}

extension MediaPlaylist {
    /// The media sequence number of the last complete segment, plus one.
    var endSequenceNumber: Int { firstSequenceNumber + segments.count }
}
