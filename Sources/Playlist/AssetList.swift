/// What X-ASSET-LIST of an interstitial leads to (rfc8216bis appendix D.3): a JSON text whose ASSETS are to be played
/// one after the other.
///
/// Everything but the URIs stays as it is, byte for byte.
public struct AssetList: Sendable {
    /// The URIs of the assets as they are meant, in the order of the text; relative to the list's own URL.
    public let uris: [String]

    private let bytes: [UInt8]
    private let places: [Range<Int>]
    /// The most bytes of a list: one of a thousand assets has less.
    private static let limit = 1 << 20

    /// Reads a body as it came from the origin.
    ///
    /// Throws `.badAssetList` for what is no JSON, or has no ASSETS that could be played: an array that is empty says
    /// that nothing is, which is no fault. `.overLimit` beyond 1 MB.
    public init(_ body: [UInt8]) throws(PlaylistError) {
        if body.count > Self.limit {
            throw PlaylistError(.overLimit, "the list of assets is larger than \(Self.limit) bytes")
        }
        bytes = body
        var found = Assets()
        do throws(JSONScanner.Fault) {
            var scanner = JSONScanner(body)
            try scanner.run { found.visit($0, $1, of: body) }
        } catch {
            let line = 1 + body[..<min(error.position, body.count)].count { $0 == 0x0A }
            throw PlaylistError(.badAssetList, line: line, "the list of assets is no JSON")
        }
        if !found.isList || found.uris.isEmpty && found.hasElements {
            throw PlaylistError(.badAssetList, "the list of assets has no ASSETS with a URI")
        }
        places = found.uris
        uris = found.uris.map { JSONScanner.text(body[$0]) ?? "" }
    }

    /// Writes the list with other names: `naming` is given the place among `uris` and gives the new URI, or nil to
    /// leave it.
    ///
    /// Throws `.unsafeName` for a name that could not stand in a playlist.
    public func rendered(naming: (Int) -> String?) throws(PlaylistError) -> [UInt8] {
        var output: [UInt8] = []
        var position = 0
        for (index, place) in places.enumerated() {
            guard let name = naming(index) else { continue }
            output += bytes[position..<place.lowerBound]
            output += "\"\(try TextWriter.checked(name).replacingBackslashes)\"".utf8
            position = place.upperBound
        }
        return output + bytes[position...]
    }
}

/// What a walk over the text has met.
private struct Assets {
    var uris: [Range<Int>] = []
    var isList = false
    var hasElements = false

    mutating func visit(_ path: [String], _ place: Range<Int>, of body: [UInt8]) {
        let isString = body[place.lowerBound] == UInt8(ascii: "\"")
        if path == ["ASSETS", "URI"], isString { uris.append(place) }
        guard path == ["ASSETS"], !isString else { return }
        isList = true
        if body[place].dropFirst().dropLast().contains(where: { $0 > 0x20 }) { hasElements = true }
    }
}

extension String {
    /// A backslash begins an escape in JSON, and so is written as two.
    fileprivate var replacingBackslashes: String {
        utf8.contains(UInt8(ascii: "\\"))
            ? split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\") : self
    }
}
