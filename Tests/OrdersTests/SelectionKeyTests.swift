import Orders
import Testing

/// The keys of selections, and the defaults of the configuration.
@Suite struct SelectionKeyTests {
    private func selection(_ values: [Selection.Key: String]) throws -> Selection {
        var selection = Selection()
        for (key, value) in values {
            try key.set([value], in: &selection)
        }
        return selection
    }

    /// The defaults, a request, and the keys that are in force.
    static let merges: [([Selection.Key: String], [Selection.Key: String], [Selection.Key: String])] = [
        ([:], [:], [:]),
        ([.quality: "720p"], [:], [.quality: "720p"]),
        ([.quality: "720p"], [.quality: "best"], [.quality: "best"]),
        ([.quality: "720p", .audio: "de"], [.minimumBitRate: "2M"], [.minimumBitRate: "2M", .audio: "de"]),
        ([.minimumSize: "720p", .minimumBitRate: "1M"], [.quality: "worst"], [.quality: "worst"]),
        ([.isFast: "true"], [.isFast: "false"], [.isFast: "false"]),
        ([.isFast: "true"], [.audio: "all"], [.isFast: "true", .audio: "all"]),
        ([.conditions: "height<=720"], [.quality: "best"], [.conditions: "height<=720", .quality: "best"]),
        ([.conditions: "height<=720"], [.conditions: "fps<=30"], [.conditions: "fps<=30"]),
        ([.audio: "all"], [.audio: "default"], [.audio: "default"]),
        ([.subtitles: "all"], [:], [.subtitles: "all"]),
        ([.subtitles: "all"], [.subtitles: "none"], [.subtitles: "none"]),
        ([.prefersHDR: "true"], [.prefersHDR: "false"], [.prefersHDR: "false"]),
        ([.prefersMultichannel: "true"], [.codecs: "avc1"], [.prefersMultichannel: "true", .codecs: "avc1"]),
        ([.languages: "de"], [.languages: "ja,en"], [.languages: "ja,en"]),
        ([.languages: "de"], [:], [.languages: "de"]),
    ]

    @Test(arguments: merges)
    func aRequestGoesBeforeTheDefaults(
        _ defaults: [Selection.Key: String], _ request: [Selection.Key: String],
        _ expected: [Selection.Key: String]
    ) throws {
        let merged = try selection(request).with(defaults: selection(defaults))
        #expect(try merged == selection(expected))
    }

    @Test(arguments: Selection.Key.allCases)
    func anEmptyValueLeavesTheKeyOut(_ key: Selection.Key) throws {
        var selection = Selection()
        try key.set([""], in: &selection)
        try key.set([], in: &selection)
        #expect(selection == Selection())
        #expect(throws: Selection.Key.Mistake.self) { try key.set(["?", " "], in: &selection) }
    }
}
