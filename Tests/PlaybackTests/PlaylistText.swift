import Foundation

/// Reads playlists as a player does that knows nothing but URIs.
enum PlaylistText {
    /// The URIs of a playlist, in lines and in attributes.
    static func paths(in text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("#") else { return String(line) }
            return line.range(of: "URI=\"").map { String(line[$0.upperBound...].prefix { $0 != "\"" }) }
        }
    }

    /// The value of a quoted attribute at its first occurrence.
    static func attribute(_ name: String, in text: String) -> String? {
        text.range(of: name + "=\"").map { String(text[$0.upperBound...].prefix { $0 != "\"" }) }
    }
}
