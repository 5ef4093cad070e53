import Foundation
import Library
import Orders
import Playlist
import Retention
import Testing

@testable import Downloader

@Suite struct DownloadTaskTests {
    private func item(_ ids: String..., range: Range<Double>? = nil) -> DownloadTask.Item {
        DownloadTask.Item(Selection(), range: range, renditions: ids)
    }

    private func task(_ items: DownloadTask.Item...) -> DownloadTask {
        var task = DownloadTask()
        for item in items { task.add(item) }
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
        #expect(task(item("v"), item("v", range: 0..<1)).items.count == 2)
        #expect(task(item("v", "a"), item("w"), item("v", "a")).items.map(\.renditions) == [["v", "a"], ["w"]])
    }

    @Test func aRenditionIsSelectedFullyIfAnyItemSelectsItFully() {
        let task = task(item("v", range: 0..<10), item("v", "a", range: 20..<30), item("a"))
        #expect(task.span(of: "v") == .parts([20..<30, 0..<10]))
        #expect(task.span(of: "a") == .all)
        #expect(task.span(of: "x") == nil)
    }

    @Test func anIncludedSelectionIsCovered() {
        let known = task(item("v", "a", range: 0..<10), item("b"))
        #expect(known.covers(item("v", range: 2..<3)))
        #expect(known.covers(item("v", "b", range: 0..<10)))
        #expect(known.covers(item("b")))
        #expect(!known.covers(item("v")))
        #expect(!known.covers(item("v", range: 5..<11)))
        #expect(!known.covers(item("w", range: 0..<1)))
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

    /// The text of version 1, which must stay readable.
    private static let stored = """
        {"items":[{"end":1200,"renditions":["video-720p","audio-en"],"selection":{"audio":["en","ja"],"preferences":\
        {"codecs":["hvc1"],"isFast":true,"languages":["en"],"locale":"de-AT","minimumBitRate":1,"minimumHeight":3,\
        "minimumWidth":2,"prefersHDR":true,"prefersMultichannel":true},"quality":{"height":720},"subtitles":"all"},\
        "start":600}],"note":"for the train","priority":"important","recordsLive":true,"version":1}
        """

    private static var full: DownloadTask {
        var preferences = Selection.Preferences()
        (preferences.minimumBitRate, preferences.minimumWidth, preferences.minimumHeight) = (1, 2, 3)
        (preferences.prefersHDR, preferences.prefersMultichannel, preferences.isFast) = (true, true, true)
        (preferences.codecs, preferences.languages, preferences.locale) = (["hvc1"], ["en"], "de-AT")
        let selection = Selection(
            quality: .height(720), audio: .languages(["en", "ja"]), subtitles: .all, preferences: preferences)
        var task = DownloadTask()
        task.add(DownloadTask.Item(selection, range: 600..<1200, renditions: ["video-720p", "audio-en"]))
        (task.note, task.priority, task.recordsLive) = ("for the train", .important, true)
        return task
    }

    @Test func theStoredTextOfATaskIsStable() throws {
        #expect(Self.full.stored == Self.stored)
        #expect(try DownloadTask(stored: Self.stored) == Self.full)
        let least = #"{"items":[{"renditions":["m"],"selection":{"audio":"default","subtitles":"none"}}],"version":1}"#
        #expect(task(item("m")).stored == least)
        #expect(try DownloadTask(stored: least) == task(item("m")))
    }

    @Test(arguments: [
        Selection.Quality.best, .worst, .height(1), .heightAtMost(1080), .minimumBandwidth(2_000_000),
    ])
    func everyQualityRoundTrips(_ quality: Selection.Quality) throws {
        let known = task(DownloadTask.Item(Selection(quality: quality, audio: .none), renditions: ["v"]))
        #expect(try DownloadTask(stored: known.stored) == known)
    }

    @Test func severalItemsRoundTripInOrder() throws {
        let known = task(item("a"), item("b", range: 1..<2), item("c"))
        #expect(try DownloadTask(stored: known.stored) == known)
    }

    @Test func unknownKeysAreIgnored() throws {
        let text = #"{"version":1,"items":[],"new":7}"#
        #expect(try DownloadTask(stored: text) == DownloadTask())
    }

    @Test func anotherVersionIsRefusedByNumber() {
        #expect { try DownloadTask(stored: #"{"version":2,"items":"?"}"#) } throws: { error in
            "\(error)".contains("newer Weir") && "\(error)".contains("version 2")
        }
    }

    @Test(arguments: ["", "[]", "{}", #"{"version":1}"#, #"{"version":1,"items":[{}]}"#])
    func refusesInvalidTasks(_ text: String) {
        #expect(throws: (any Error).self) { try DownloadTask(stored: text) }
    }
}
