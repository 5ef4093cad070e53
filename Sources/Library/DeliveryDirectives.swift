import HTTPMessage
import Playlist

/// What a player asks of the server of a live playlist, in the query of its URL (rfc8216bis §6.2.5).
public struct DeliveryDirectives: Hashable, Sendable {
    /// `_HLS_skip`: the player has an earlier text, and wants only what is new.
    public enum Skip: String, Sendable {
        /// Segments may be left out.
        case segments = "YES"
        /// Segments and date ranges may.
        case segmentsAndDateRanges = "v2"
    }

    /// `_HLS_msn`: the answer is to wait for the segment with this media sequence number.
    public private(set) var mediaSequenceNumber: Int?
    /// `_HLS_part`: it is to wait for the part with this Part Index of that segment.
    public private(set) var part: Int?
    /// Whether a delta update will do.
    public private(set) var skip: Skip?

    /// What a player that wants the playlist as it is asks for.
    public static let none = DeliveryDirectives()

    private init() {}

    /// Takes the directives out of the query of a player's URL; what is left of it is the origin's own.
    ///
    /// - Throws: `badDirective` for a value that is none, and for a part of no segment (rfc8216bis §6.2.5.2).
    public static func take(from query: String?) throws(LibraryError) -> (DeliveryDirectives, rest: String?) {
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

    /// Whether the parameter is one of them.
    private mutating func read(_ parameter: Substring) throws(LibraryError) -> Bool {
        let name = parameter.prefix { $0 != "=" }
        let value = parameter.dropFirst(name.count + 1)
        switch name {
        case "_HLS_msn": mediaSequenceNumber = try Self.number(value, of: name)
        case "_HLS_part": part = try Self.number(value, of: name)
        case "_HLS_skip": skip = Skip(rawValue: String(value))  // Values that no text defines ask for nothing.
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

    /// The URL with these directives, sorted by name as caches want them, behind whatever its query says already.
    func added(to url: WebURL) -> WebURL {
        let parameters = [
            mediaSequenceNumber.map { "_HLS_msn=\($0)" }, part.map { "_HLS_part=\($0)" },
            skip.map { "_HLS_skip=\($0.rawValue)" },
        ].compactMap { $0 }
        guard !parameters.isEmpty else { return url }
        let own = url.query.map { $0.isEmpty ? "" : "\($0)&" } ?? ""
        return (try? url.resolving("?\(own)\(parameters.joined(separator: "&"))")) ?? url
    }

    // MARK: What a server makes of them

    /// Only what the origin of a playlist says that it answers to.
    func understood(by playlist: MediaPlaylist) -> DeliveryDirectives {
        guard playlist.isLive, let control = playlist.serverControl else { return .none }
        var understood = self
        if !control.canBlockReload { (understood.mediaSequenceNumber, understood.part) = (nil, nil) }
        if control.canSkipUntil == nil { understood.skip = nil }
        return understood
    }

    /// Whether a playlist holds already what is to be waited for.
    func areMet(by playlist: MediaPlaylist) -> Bool {
        guard let number = mediaSequenceNumber, playlist.isLive else { return true }
        let end = playlist.endSequenceNumber
        guard let part else { return number < end }
        if number + 1 < end { return true }
        // A part beyond a whole segment's last is the first of the next segment.
        let count = playlist.parts.count { $0.mediaSequenceNumber == number }
        if part < count || (number < end && count == 0) { return true }
        return number < end && playlist.parts.contains { $0.mediaSequenceNumber == end }
    }
}

extension MediaPlaylist {
    /// One more than the media sequence number of the last whole segment.
    var endSequenceNumber: Int { firstSequenceNumber + segments.count }
}
