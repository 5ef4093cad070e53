import Assets
import Foundation
import HLS
import Orders
import Retention
import SafeText
import Testing

@testable import Downloads

@Suite struct DownloadTaskTests {
    private func item(_ ids: String..., range: MediaRange? = nil) -> DownloadTask.Item {
        DownloadTask.Item(Selection(), range: range, renditions: ids)
    }

    private func task(_ items: DownloadTask.Item...) -> DownloadTask {
        var task = DownloadTask()
        for item in items {
            task.add(item)
        }
        return task
    }

    @Test func theLatestItemComesFirstWithoutRepeatedRenditions() {
        #expect(
            task(item("video-1", "audio-en"), item("video-1", "audio-fr")).renditions
                == ["video-1", "audio-fr", "audio-en"])
        #expect(DownloadTask().renditions == [])
    }

    @Test func anEqualSelectionAddsNoItem() {
        #expect(task(item("v"), item("v")).items.count == 1)
        #expect(task(item("v"), item("v", range: MediaRange(0..<1))).items.count == 2)
        #expect(task(item("v", "a"), item("w"), item("v", "a")).items.map(\.renditions) == [["v", "a"], ["w"]])
    }

    @Test func aRenditionIsSelectedFullyIfAnyItemSelectsItFully() {
        let task = task(item("v", range: MediaRange(0..<10)), item("v", "a", range: MediaRange(20..<30)), item("a"))
        #expect(task.span(of: "v") == .parts([20..<30, 0..<10]))
        #expect(task.span(of: "a") == .all)
        #expect(task.span(of: "x") == nil)
    }

    @Test func anIncludedSelectionIsCovered() {
        let known = task(item("v", "a", range: MediaRange(0..<10)), item("b"))
        #expect(known.covers(item("v", range: MediaRange(2..<3))))
        #expect(known.covers(item("v", "b", range: MediaRange(0..<10))))
        #expect(known.covers(item("b")))
        #expect(!known.covers(item("v")))
        #expect(!known.covers(item("v", range: MediaRange(5..<11))))
        #expect(!known.covers(item("w", range: MediaRange(0..<1))))
    }

    @Test(arguments: [
        (WantedTime.all, 3.0, 4.0, true), (.parts([2..<4]), 0, 2, false), (.parts([2..<4]), 0, 2.5, true),
        (.parts([2..<4]), 4, 6, false), (.parts([2..<4]), 3, 3.5, true), (.parts([0..<1, 9..<10]), 8, 12, true),
        (.parts([0..<1, 9..<10]), 1, 9, false),
    ])
    func aSegmentIsSelectedIfAnyPartOfItIs(_ wanted: WantedTime, _ start: Double, _ end: Double, _ isWanted: Bool) {
        #expect(wanted.touches(start, end) == isWanted)
    }

    // MARK: Storage

    private static let stored = """
        {"items":[{"range":[600,1200],"renditions":["video-720p","audio-en"],"selection":{"audio":"en,ja","preferences":\
        {"codecs":["hvc1"],"isFast":true,"languages":["en"],"locale":"de-AT","minimumBitRate":1,"minimumSize":"2x3",\
        "prefersHDR":true,"prefersMultichannel":true},"quality":"720p","subtitles":"all"}}],\
        "note":"for the train","priority":"important","recordsLive":true,"version":2}
        """

    /// The text of version 1, which must stay readable.
    private static let first = """
        {"items":[{"end":1200,"renditions":["video-720p","audio-en"],"selection":{"audio":["en","ja"],"preferences":\
        {"codecs":["hvc1"],"isFast":true,"languages":["en"],"locale":"de-AT","minimumBitRate":1,"minimumHeight":3,\
        "minimumWidth":2,"prefersHDR":true,"prefersMultichannel":true},"quality":{"height":720},"subtitles":"all"},\
        "start":600}],"note":"for the train","priority":"important","recordsLive":true,"version":1}
        """

    private static var full: DownloadTask {
        var preferences = Selection.Preferences()
        preferences.minimumBitRate = 1
        preferences.minimumSize = Selection.Size(width: 2, height: 3)
        preferences.prefersHDR = true
        preferences.prefersMultichannel = true
        preferences.isFast = true
        preferences.codecs = ["hvc1"]
        preferences.languages = ["en"]
        preferences.locale = "de-AT"
        let selection = Selection(
            quality: .height(720), audio: .languages(["en", "ja"]), subtitles: .all, preferences: preferences)
        var task = DownloadTask()
        task.add(DownloadTask.Item(selection, range: MediaRange(600..<1200), renditions: ["video-720p", "audio-en"]))
        task.note = "for the train"
        task.priority = .important
        task.recordsLive = true
        return task
    }

    @Test func theStoredTextOfATaskIsStable() throws {
        #expect(Self.full.stored == Self.stored)
        #expect(try DownloadTask(stored: Self.stored) == Self.full)
        let least = #"{"items":[{"renditions":["m"],"selection":{}}],"version":2}"#
        #expect(task(item("m")).stored == least)
        #expect(try DownloadTask(stored: least) == task(item("m")))
    }

    @Test func aShortfallIsStored() throws {
        var item = DownloadTask.Item(Selection(), renditions: ["m"])
        item.shortfall = Shortfall(.missing, "no sound")
        let text = """
            {"items":[{"renditions":["m"],"selection":{},"shortfall":{"message":"no sound","reason":"missing"}}],"version":2}
            """
        #expect(task(item).stored == text)
        #expect(try DownloadTask(stored: text) == task(item))
        // Earlier builds stored a sentence, whatever the reason.
        let earlier = #"{"items":[{"otherQuality":"no sound","renditions":["m"],"selection":{}}],"version":2}"#
        #expect(try DownloadTask(stored: earlier).items[0].shortfall == Shortfall(.quality, "no sound"))
    }

    // MARK: Version 1

    @Test func theFirstVersionIsReadable() throws {
        #expect(try DownloadTask(stored: Self.first) == Self.full)
    }

    /// Selections in the grammar of version 1, and the same ones now.
    static let firstSelections: [(String, Selection)] = [
        (#"{"audio":"default","subtitles":"none"}"#, Selection(audio: .default, subtitles: .nothing)),
        (
            #"{"audio":"all","quality":{"best":true},"subtitles":"auto"}"#,
            Selection(quality: .best, audio: .all, subtitles: .auto)
        ),
        (
            #"{"audio":["en"],"quality":{"worst":true},"subtitles":["de"]}"#,
            Selection(quality: .worst, audio: .languages(["en"]), subtitles: .languages(["de"]))
        ),
        (#"{"quality":{"heightAtMost":1080}}"#, Selection(quality: .heightAtMost(1080))),
        (#"{"quality":{"minimumBandwidth":2500000}}"#, Selection(quality: .minimumBandwidth(2_500_000))),
    ]

    @Test(arguments: firstSelections)
    func aSelectionOfTheFirstVersionIsRead(_ text: String, _ selection: Selection) throws {
        let task = try DownloadTask(stored: #"{"items":[{"renditions":["v"],"selection":\#(text)}],"version":1}"#)
        #expect(task.items.map(\.selection) == [selection])
    }

    /// Conditions as Swift encodes an enum, and their texts.
    static let firstConditions: [(String, String)] = [
        (#"{"height":{"_0":{"atMost":{"_0":1080}}}}"#, "height<=1080"),
        (#"{"not":{"_0":{"height":{"_0":{"atMost":{"_0":1080}}}}}}"#, "height>1080"),
        (#"{"not":{"_0":{"width":{"_0":{"exactly":{"_0":640}}}}}}"#, "width!=640"),
        (#"{"peakBitRate":{"_0":{"atLeast":{"_0":5000000}}}}"#, "peak>=5000000"),
        (#"{"averageBitRate":{"_0":{"atMost":{"_0":800000}}}}"#, "average<=800000"),
        (#"{"frameRate":{"_0":{"exactly":{"_0":29.97}}}}"#, "fps=29.97"),
        (#"{"not":{"_0":{"channels":{"_0":{"atLeast":{"_0":6}}}}}}"#, "channels<6"),
        (#"{"videoRange":{"_0":["HLG","PQ"]}}"#, "range=HLG,PQ"),
        (#"{"any":{"_0":[{"codec":{"_0":"avc1"}},{"codec":{"_0":"hvc1"}}]}}"#, "codec=avc1,hvc1"),
        (#"{"not":{"_0":{"any":{"_0":[{"codec":{"_0":"hvc1"}}]}}}}"#, "codec!=hvc1"),
    ]

    @Test(arguments: firstConditions)
    func aConditionOfTheFirstVersionIsRead(_ json: String, _ text: String) throws {
        let selection = #"{"audio":"default","requirements":[\#(json)],"subtitles":"auto"}"#
        let task = try DownloadTask(stored: #"{"items":[{"renditions":["v"],"selection":\#(selection)}],"version":1}"#)
        let condition = try VariantCondition(text)
        #expect(task.items.first?.selection.conditions == [condition])
    }

    @Test func anOpenEndOfTheFirstVersionIsRead() throws {
        let item = #"{"end":1000000000,"renditions":["v"],"selection":{"audio":"all","subtitles":"all"},"start":5}"#
        let task = try DownloadTask(stored: #"{"items":[\#(item)],"version":1}"#)
        #expect(task.items.map(\.range) == [MediaRange(start: 5, end: nil)])
    }

    // MARK: Round trips

    @Test(arguments: [
        Selection.Quality.best, .worst, .height(1), .heightAtMost(1080), .minimumBandwidth(2_000_000),
    ])
    func everyQualityRoundTrips(_ quality: Selection.Quality) throws {
        let known = task(DownloadTask.Item(Selection(quality: quality, audio: .nothing), renditions: ["v"]))
        #expect(try DownloadTask(stored: known.stored) == known)
    }

    @Test func severalItemsRoundTripInOrder() throws {
        let known = task(item("a"), item("b", range: MediaRange(1..<2)), item("c"))
        #expect(try DownloadTask(stored: known.stored) == known)
    }

    @Test func unknownKeysAreIgnored() throws {
        let text = #"{"version":2,"items":[],"new":7}"#
        #expect(try DownloadTask(stored: text) == DownloadTask())
    }

    @Test func anotherVersionIsRefusedByNumber() {
        #expect { try DownloadTask(stored: #"{"version":3,"items":"?"}"#) } throws: { error in
            "\(error)".contains("newer Weir") && "\(error)".contains("version 3")
        }
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"version":1}"#, #"{"version":1,"items":[{}]}"#, #"{"version":2,"items":[{}]}"#,
    ])
    func refusesInvalidTasks(_ text: String) {
        #expect(throws: (any Error).self) { try DownloadTask(stored: text) }
    }
}
