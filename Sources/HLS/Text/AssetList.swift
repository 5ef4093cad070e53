/// The JSON text at an interstitial's X-ASSET-LIST (rfc8216bis appendix D.3). Its ASSETS are played one after the other.
///
/// Everything except the URIs is preserved byte for byte.
public struct AssetList: Sendable {
    /// The decoded URIs of the assets in text order, relative to the list's URL.
    public let uris: [String]
    private let bytes: [UInt8]
    private let uriRanges: [Range<Int>]
    /// For each URI the object around it, and the array of all.
    private let elements: [Range<Int>]
    private let array: Range<Int>
    /// Maximum size in bytes. A list of a thousand assets is smaller.
    private static let limit = 1 << 20

    /// Parses a response body. Throws `.badAssetList` for invalid JSON, and for ASSETS without any URI; `.overLimit`
    /// beyond 1 MB. An empty array is valid: nothing is to be played.
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
            throw PlaylistError(.badAssetList, line: line, "the list of assets is not valid JSON")
        }
        if found.list == nil || found.uris.isEmpty && found.hasElements {
            throw PlaylistError(.badAssetList, "the list of assets has no ASSETS with a URI")
        }
        uriRanges = found.uris
        elements = found.elements
        array = found.list ?? 0..<0
        uris = found.uris.map { range in
            JSONScanner.text(body[range]) ?? ""
        }
    }

    /// Writes the list without the assets that `keeping` refuses by their index in `uris`. Others as `rendered(naming:)`.
    public func rendered(keeping: (Int) -> Bool, naming: (Int) -> String?) throws(PlaylistError) -> [UInt8] {
        let dropped = uris.indices.filter { !keeping($0) }
        guard !dropped.isEmpty else { return try rendered(naming: naming) }
        var output = Array(bytes[..<array.lowerBound])
        var separator = "["
        for (index, element) in elements.enumerated() where keeping(index) {
            let range = uriRanges[index]
            output += separator.utf8
            output += bytes[element.lowerBound..<range.lowerBound]
            if let name = naming(index) {
                output += "\"\(try TextWriter.checked(name).replacingBackslashes)\"".utf8
            } else {
                output += bytes[range]
            }
            output += bytes[range.upperBound..<element.upperBound]
            separator = ","
        }
        if separator == "[" {
            output += "[".utf8
        }
        output += "]".utf8
        return output + bytes[array.upperBound...]
    }

    /// Writes the list with other URIs. `naming` gets the index in `uris` and returns the new URI, or nil to keep the
    /// old one. Throws `.unsafeName` for a URI that is not allowed in a playlist.
    public func rendered(naming: (Int) -> String?) throws(PlaylistError) -> [UInt8] {
        var output: [UInt8] = []
        var position = 0
        for (index, range) in uriRanges.enumerated() {
            guard let name = naming(index) else { continue }
            output += bytes[position..<range.lowerBound]
            output += "\"\(try TextWriter.checked(name).replacingBackslashes)\"".utf8
            position = range.upperBound
        }
        return output + bytes[position...]
    }
}

private struct Assets {
    var uris: [Range<Int>] = []
    /// For each URI the object around it.
    var elements: [Range<Int>] = []
    var list: Range<Int>?
    var hasElements = false

    mutating func visit(_ path: [String], _ range: Range<Int>, of body: [UInt8]) {
        let isString = body[range.lowerBound] == UInt8(ascii: "\"")
        if path == ["ASSETS", "URI"], isString {
            uris.append(range)
        }
        if path == ["ASSETS"], body[range.lowerBound] == UInt8(ascii: "{") {
            while elements.count < uris.count {
                elements.append(range)
            }
        }
        guard path == ["ASSETS"], body[range.lowerBound] == UInt8(ascii: "[") else { return }
        // Of URIs in a nested form, which no specification defines, the array itself is the element.
        while elements.count < uris.count {
            elements.append(range)
        }
        list = range
        if body[range].dropFirst().dropLast().contains(where: { $0 > 0x20 }) {
            hasElements = true
        }
    }
}

extension String {
    /// The string with each backslash doubled, as JSON requires.
    fileprivate var replacingBackslashes: String {
        guard utf8.contains(UInt8(ascii: "\\")) else { return self }
        return split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
    }
}
