/// The delivery directives that a player puts into the query of a live playlist's URL (rfc8216bis §6.2.5).
public struct DeliveryDirectives: Hashable, Sendable {
    /// `_HLS_skip`: the player has an earlier version of the playlist and asks for a delta update.
    public enum Skip: String, Sendable {
        /// Segments may be left out.
        case segments = "YES"
        /// Segments and date ranges may be left out.
        case segmentsAndDateRanges = "v2"
    }

    /// The reason why a directive is invalid, as a sentence.
    public struct Invalid: Error {
        /// The sentence.
        public let message: String
    }

    /// `_HLS_msn`: the response waits for the segment with this media sequence number.
    public private(set) var mediaSequenceNumber: SequenceNumber?
    /// `_HLS_part`: the response waits for the part with this Part Index of that segment.
    public private(set) var part: Int?
    /// The kind of delta update that the player accepts; nil for a full playlist.
    public private(set) var skip: Skip?
    /// No directives: a request of the current playlist.
    public static let none = DeliveryDirectives()
    private init() {}

    /// Splits the query of a player's URL into the directives and the origin's own query.
    ///
    /// - Throws: for an invalid value, and for a part without a segment (rfc8216bis §6.2.5.2).
    public static func parse(_ query: String?) throws(Invalid) -> (DeliveryDirectives, rest: String?) {
        var directives = DeliveryDirectives()
        guard let query, query.utf8.contains(UInt8(ascii: "_")) else { return (directives, query) }
        var rest: [Substring] = []
        for parameter in query.split(separator: "&", omittingEmptySubsequences: false) {
            if try !directives.read(parameter) {
                rest.append(parameter)
            }
        }
        if directives.part != nil, directives.mediaSequenceNumber == nil {
            throw Invalid(message: "_HLS_part makes no sense without _HLS_msn")
        }
        return (directives, joined(rest))
    }

    /// Returns the origin's own query, whatever values the directives have; nil if nothing is left.
    public static func removed(from query: String?) -> String? {
        guard let query else { return nil }
        let rest = query.split(separator: "&", omittingEmptySubsequences: false).filter { parameter in
            !["_HLS_msn", "_HLS_part", "_HLS_skip"].contains(parameter.prefix { $0 != "=" })
        }
        return joined(rest)
    }

    private static func joined(_ parameters: [Substring]) -> String? {
        guard !parameters.isEmpty else { return nil }
        return parameters.joined(separator: "&")
    }

    private mutating func read(_ parameter: Substring) throws(Invalid) -> Bool {
        let name = parameter.prefix { $0 != "=" }
        let value = parameter.dropFirst(name.count + 1)
        switch name {
        case "_HLS_msn": mediaSequenceNumber = SequenceNumber(try Self.number(value, of: name))
        case "_HLS_part": part = try Self.number(value, of: name)
        case "_HLS_skip": skip = Skip(rawValue: String(value))  // Undefined values are ignored.
        default: return false
        }
        return true
    }

    private static func number(_ text: Substring, of name: Substring) throws(Invalid) -> Int {
        let isDecimal = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isDecimal, let number = Int(text), number <= SequenceNumber.largestInPlaylist else {
            throw Invalid(message: "\(name) is not a decimal integer")
        }
        return number
    }

    /// The parameters of a query with these directives, sorted by name as caches need them.
    public var parameters: [String] {
        var parameters: [String] = []
        if let mediaSequenceNumber {
            parameters.append("_HLS_msn=\(mediaSequenceNumber)")
        }
        if let part {
            parameters.append("_HLS_part=\(part)")
        }
        if let skip {
            parameters.append("_HLS_skip=\(skip.rawValue)")
        }
        return parameters
    }

    /// Returns only the directives that the origin of a playlist supports.
    public func understood(by playlist: MediaPlaylist) -> DeliveryDirectives {
        guard playlist.isLive, let control = playlist.serverControl else { return .none }
        var understood = self
        if !control.canBlockReload {
            understood.mediaSequenceNumber = nil
            understood.part = nil
        }
        if control.canSkipUntil == nil {
            understood.skip = nil
        }
        return understood
    }

    /// True if a playlist already contains the segment or part to wait for.
    public func areMet(by playlist: MediaPlaylist) -> Bool {
        guard let number = mediaSequenceNumber, playlist.isLive else { return true }
        let end = playlist.endSequenceNumber
        guard let part else { return number < end }
        if number + 1 < end {
            return true
        }
        // A part number beyond the last part of a complete segment means the first part of the next segment.
        let count = playlist.parts.count { $0.mediaSequenceNumber == number }
        if part < count || (number < end && count == 0) {
            return true
        }
        return number < end && playlist.parts.contains { $0.mediaSequenceNumber == end }
    }
}

extension MediaPlaylist {
    /// The media sequence number of the first listed segment.
    public var firstSequenceNumber: SequenceNumber { mediaSequence + (skippedSegments ?? 0) }
    /// The media sequence number of the last complete segment, plus one.
    public var endSequenceNumber: SequenceNumber { firstSequenceNumber + segments.count }
    /// The unit of RFC 8216 §6.3.4: the target duration; two seconds if the playlist lacks it.
    public var interval: Duration { .seconds(max(targetDuration ?? 2, 1)) }
}
