import API

/// Text of the reasons of a selection.
enum ExplanationText {
    /// One line for the chosen variant, then one for each other variant.
    static func lines(_ explanation: API.Explanation, of tracks: API.Tracks) -> [String] {
        let size = size(explanation.selection)
        let chosen = "chosen: \(explanation.selection.summary)" + (size.map { "   \(Format.estimate($0))" } ?? "")
        let why = "because it has \(explanation.chosen.reason)"
        let rows = explanation.others.map { other in [name(tracks.variants, other.place), "it \(other.reason)"] }
        let unmixed = (explanation.unmixed ?? []).map { [$0.id, $0.reason] }
        return ["", chosen, why] + table("not chosen:", rows)
            + table("never stands in for it where it has holes:", unmixed)
    }

    private static func table(_ head: String, _ rows: [[String]]) -> [String] {
        rows.isEmpty ? [] : ["", head] + TextTable(rows: rows).lines
    }

    private static func name(_ variants: [API.Variant], _ place: Int) -> String {
        guard variants.indices.contains(place) else { return "–" }
        return variants[place].summary.isEmpty ? variants[place].id : variants[place].summary
    }

    /// The estimated size; nil if it is not known. Playlists give no size for renditions.
    private static func size(_ tracks: API.Tracks) -> Int? {
        let sizes =
            tracks.variants.map(\.estimatedBytes) + tracks.audio.map(\.estimatedBytes)
            + tracks.subtitles.map(\.estimatedBytes)
        let known = sizes.compactMap(\.self)
        return known.isEmpty ? nil : known.reduce(0, +)
    }
}
