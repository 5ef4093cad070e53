import API
import Testing

/// The keys of selections, and the defaults of the configuration.
@Suite struct SelectionKeyTests {
    private func selection(_ values: [API.SelectionKey: String]) throws -> API.SelectionRequest {
        var selection = API.SelectionRequest()
        for (key, value) in values { try key.set([value], in: &selection) }
        return selection
    }

    /// The defaults, a request, and the keys that are in force.
    static let merges: [([API.SelectionKey: String], [API.SelectionKey: String], [API.SelectionKey: String])] = [
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
        _ defaults: [API.SelectionKey: String], _ request: [API.SelectionKey: String],
        _ expected: [API.SelectionKey: String]
    ) throws {
        let merged = try selection(request).with(defaults: selection(defaults))
        #expect(try merged == selection(expected))
        var download = API.DownloadRequest(source: "x")
        (download.additional, download.note) = ([try selection(request)], "kept")
        let all = try download.with(defaults: selection(defaults))
        #expect(try all.selections == [selection(defaults), selection(expected)] && all.note == "kept")
    }

    @Test(arguments: API.SelectionKey.allCases)
    func anEmptyValueLeavesTheKeyOut(_ key: API.SelectionKey) throws {
        var selection = API.SelectionRequest()
        try key.set([""], in: &selection)
        try key.set([], in: &selection)
        #expect(selection == API.SelectionRequest())
        #expect(throws: API.SelectionKey.Mistake.self) { try key.set(["?", " "], in: &selection) }
    }
}
