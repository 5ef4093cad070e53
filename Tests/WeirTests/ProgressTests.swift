import Control
import Foundation
import Orders
import Testing
import WeirAPI

@testable import weir

@Suite struct ProgressTests {
    private let urls = PlayerURL(base: "http://127.0.0.1:8216")

    private func reporter(_ style: ProgressReporter.Style) -> ProgressReporter {
        ProgressReporter(style: style, urls: urls)
    }

    @Test(arguments: [
        (80, " 63% ██████████████████▉···········   9:19/14:48  151 MB  5.1 MB/s  0:17 left"),
        (65, " 63% ██████████▋······   9:19/14:48  151 MB  5.1 MB/s  0:17 left"),
        (53, " 63% ███▏·   9:19/14:48  151 MB  5.1 MB/s  0:17 left"),
        (50, " 63%   9:19/14:48  151 MB  5.1 MB/s  0:17 left"),
        (40, " 63%   9:19/14:48  151 MB  5.1 MB/s"),
        (30, " 63%   9:19/14:48  151 MB"),
        (10, " 63%   9:19/14:48"),
    ])
    func theDrawnLineFitsItsWindow(columns: Int, line: String) {
        let drawn = ProgressLine(download: sampleDownload).drawn(columns: columns, hasColor: false)
        #expect(drawn == line)
        if columns >= 20 {
            #expect(drawn.count < columns)
        }
    }

    @Test func colorDoesNotChangeTheText() {
        let line = ProgressLine(download: sampleDownload)
        let colored = line.drawn(columns: 60, hasColor: true)
        #expect(colored.contains("\u{1B}[36m"))
        let bare = colored.replacing("\u{1B}[36m", with: "").replacing("\u{1B}[0m", with: "")
        #expect(bare == line.drawn(columns: 60, hasColor: false))
    }

    @Test func aWaitingDownloadShowsTheReason() {
        let waiting = sampleDownload.with {
            $0.state = .waiting
            $0.error = .init(code: .originAbsent, message: "example.com cannot be reached")
        }
        #expect(
            ProgressLine(download: waiting).plain
                == "63%  9:19/14:48  151 MB  waiting: example.com cannot be reached")
        let queued = API.Download(id: "d", asset: "x")
        #expect(ProgressLine(download: queued).plain == "–  0 B  queued")
        #expect(ProgressLine(download: queued).drawn(columns: 80, hasColor: false) == "   –  0 B  queued")
    }

    @Test func aWaitNamesEachReasonAndCountsTheTime() {
        let first = "waiting for the stream to begin: 404\nThis may take any time; Ctrl-C ends the wait.\n"
        var drawn = reporter(.drawn(hasColor: false))
        let clearing = ProgressReporter.Action.drawing("\r\u{1B}[K")
        #expect(
            drawn.wait(for: .zero, because: "404", rest: .seconds(1)) == [
                .error(first), .drawing("\rwaiting for 0:00, next look in 1 s\u{1B}[K"),
            ])
        #expect(
            drawn.wait(for: .seconds(61), because: "404", rest: .milliseconds(14_200)) == [
                .drawing("\rwaiting for 1:01, next look in 15 s\u{1B}[K")
            ])
        #expect(
            drawn.wait(for: .seconds(90), because: "no network", rest: .seconds(2)) == [
                clearing, .error("waiting for the stream to begin: no network\n"),
                .drawing("\rwaiting for 1:30, next look in 2 s\u{1B}[K"),
            ])
        // The line is replaced by the download's.
        #expect(drawn.report(sampleDownload, at: .zero, columns: 80).first == clearing)
        var plain = reporter(.plain)
        #expect(plain.wait(for: .zero, because: "404", rest: .seconds(1)) == [.error(first)])
        #expect(plain.wait(for: .seconds(599), because: "404", rest: .seconds(1)) == [])
        #expect(
            plain.wait(for: .seconds(600), because: "404", rest: .seconds(1)) == [
                .error("waiting for the stream to begin, for 10:00: 404\n")
            ])
        var json = reporter(.json)
        #expect(json.wait(for: .zero, because: "404", rest: .seconds(1)) == [.error(first)])
        #expect(json.wait(for: .seconds(6000), because: "404", rest: .seconds(1)) == [])
    }

    @Test func aTerminalGetsTwoLinesAndOneRedrawnLine() {
        var reporter = reporter(.drawn(hasColor: false))
        let queued = API.Download(id: "d1", asset: "sintel")
        #expect(reporter.report(queued, at: .zero, columns: 80) == [.drawing("\r   –  0 B  queued\u{1B}[K")])
        let line = ProgressLine(download: sampleDownload).drawn(columns: 80, hasColor: false)
        #expect(
            reporter.report(sampleDownload, at: .seconds(1), columns: 80) == [
                .drawing("\r\u{1B}[K"),
                .error("sintel  14:48  720p avc1 2.1 Mb/s + audio en + subs en   about 240 MB\n"),
                .error("play now:  mpv http://localhost:8216/sintel.m3u8\n"), .drawing("\r\(line)\u{1B}[K"),
            ])
        #expect(reporter.report(sampleDownload, at: .seconds(2), columns: 80) == [.drawing("\r\(line)\u{1B}[K")])
        let done = sampleDownload.with { $0.state = .complete }
        #expect(
            reporter.finish(done) == [
                .error("\n"), .error("sintel is saved, 151 MB. Play it: weir play sintel\n"),
            ])
    }

    @Test func unselectedTracksAreMentionedOnce() {
        var download = sampleDownload
        var other = sampleVariant
        other.height = 360
        download.unselected = API.Tracks(
            variants: [other, other],
            audio: [API.Rendition(id: "audio-fr", group: "a", name: "Français", language: "fr")],
            subtitles: [API.Rendition(id: "subtitles-x", group: "s", name: "Signs")])
        var plain = reporter(.plain)
        let lines = plain.report(download, at: .zero, columns: 80)
        #expect(lines.count == 4 && lines[1] == .error("also available:  360p, audio fr, subs Signs\n"))
        var json = reporter(.json)
        download.selections = [
            .init(renditions: [.init(id: "video-720p", weight: 1, fraction: 0.5)], fraction: 0.5, isComplete: false)
        ]
        let kinds = json.report(download, at: .zero, columns: 80).map { action -> String in
            guard case .output(let text) = action else { return "" }
            return String(text.dropFirst(#"{"v":1,"t":""#.count).prefix { $0 != "\"" })
        }
        #expect(kinds == ["selection-resolved", "selections-further", "progress"])
        let later = download.with {
            $0.unselected = nil
            $0.selections?[0].isComplete = true
        }
        let end = json.report(later, at: .zero, columns: 80)
        #expect(end.count == 2, "\(end)")
        let wanted = #"{"v":1,"t":"selection-complete","id":"sintel","selection":{"#
        let last = if case .output(let text)? = end.last { text } else { "" }
        #expect(last.hasPrefix(wanted) && last.contains("video-720p") && !last.contains("audio-en"), "\(last)")
    }

    @Test func aLogGetsALinePerTenthPerStateAndEveryFiveSeconds() {
        var reporter = reporter(.plain)
        let at: (Double, Int) -> API.Download = { end, bytes in
            sampleDownload.with {
                $0.loaded = [.init(start: 0, end: end)]
                $0.bytes = bytes
            }
        }
        #expect(reporter.report(at(0, 0), at: .zero, columns: 80).count == 3)
        #expect(reporter.report(at(10, 10), at: .seconds(1), columns: 80).isEmpty)
        #expect(reporter.report(at(90, 20), at: .seconds(2), columns: 80).count == 1)
        #expect(reporter.report(at(91, 30), at: .seconds(6), columns: 80).isEmpty)
        #expect(reporter.report(at(92, 40), at: .seconds(7), columns: 80).count == 1)
        let waiting = at(92, 40).with { $0.state = .waiting }
        #expect(
            reporter.report(waiting, at: .seconds(8), columns: 80) == [.error("10%  1:32/14:48  40 B  waiting\n")])
        #expect(reporter.finish(waiting).isEmpty)
    }

    @Test func aCompleteDownloadIsFullDespiteAShorterTrack() {
        let done = sampleDownload.with {
            $0.state = .complete
            $0.loaded = [.init(start: 0, end: 887.9)]
        }
        #expect(ProgressLine(download: done).plain == "100%  14:47/14:48  151 MB  saved")
    }

    @Test func aLoneMediaPlaylistShowsNoQuality() {
        let download = sampleDownload.with { $0.selection = .init(variants: [.init(id: "media")]) }
        #expect(ProgressReporter.headline(download) == "sintel  14:48   about 240 MB")
    }

    @Test func aStoredAssetHasAnExactSize() {
        let done = sampleDownload.with {
            $0.state = .complete
            $0.title = "Sintel"
        }
        #expect(
            ProgressReporter.headline(done) == "Sintel  14:48  720p avc1 2.1 Mb/s + audio en + subs en   151 MB")
    }

    @Test func jsonHasAnObjectPerChange() {
        var reporter = reporter(.json)
        let object =
            #"{"v":1,"t":"progress","id":"sintel","stage":"video","loaded":[[0,559.2]],"duration":888.1,"#
            + #""bytes":158334976,"rate":5347000,"eta":17,"fraction":0.6291}"#
        #expect(reporter.report(sampleDownload, at: .zero, columns: 80) == [.output(object)])
        #expect(reporter.report(sampleDownload, at: .seconds(9), columns: 80).isEmpty)
        #expect(reporter.finish(sampleDownload.with { $0.state = .complete }).isEmpty)
    }

    @Test func theResultAsJSON() {
        let done = sampleDownload.with { $0.state = .complete }
        #expect(
            DownloadRecord.result(done, url: "http://localhost:8216/sintel.m3u8", failure: nil)
                == #"{"v":1,"t":"result","id":"sintel","state":"complete","loaded":[[0,559.2]],"duration":888.1,"#
                + #""bytes":158334976,"url":"http://localhost:8216/sintel.m3u8","exit":0}"#)
        let failure = CommandFailure("it is live", exitCode: 65, code: "live")
        #expect(
            DownloadRecord.result(nil, url: nil, failure: failure)
                == #"{"v":1,"t":"result","state":"failed","error":{"code":"live","message":"it is live"},"exit":65}"#)
    }

    /// Mission A5.
    @Test func aDownloadEndsWithItsAccount() {
        var reporter = reporter(.plain)
        var summary = API.Download.Summary(
            began: 10, ended: 52, seconds: 41.5, bytes: 158_334_976, requests: 62, retries: 3, interruptions: 1)
        summary.origins = [
            .init(host: "cdn.example.com", requests: 60, bytes: 158_000_000),
            .init(host: "h", requests: 2, bytes: 2048),
        ]
        let done = sampleDownload.with { ($0.state, $0.summary) = (.complete, summary) }
        let account =
            "fetched 151 MB in 0:42, 3.6 MB/s, 62 requests, 3 of them repeated, 1 interruption, from cdn.example.com (151 MB) "
            + "and h (2.0 KB)\n"
        #expect(reporter.finish(done).first == .error(account))
        #expect(reporter.finish(done).count == 2 && reporter.finish(done, since: 53).count == 1)
        summary.missing = [.init(id: "video-720p", ranges: [.init(start: 60, end: 120), .init(start: 600, end: 888)])]
        let failed = done.with { ($0.state, $0.summary) = (.failed, summary) }
        #expect(reporter.finish(failed).last == .error("missing: video-720p 1:00-2:00 10:00-14:48\n"))
        #expect(DownloadRecord.result(done, url: nil, failure: nil).contains(#""summary":{"began":10,"#))
        #expect(DownloadText.lines(done).contains(account.trimmingCharacters(in: .newlines)))
    }

    @Test func aRecordingShowsOnlyItsRecordedAmount() {
        var recording = API.Download(id: "d1", asset: "news")
        recording.state = .running
        recording.isRecording = true
        recording.loaded = [API.Download.TimeRange(start: 0, end: 90)]
        recording.bytes = 3_000_000
        recording.rate = 250_000
        #expect(ProgressLine(download: recording).plain == "–  1:30 recorded  2.9 MB  244 KB/s")
        #expect(!ProgressLine(download: recording).drawn(columns: 80, hasColor: false).contains("%"))
    }
}
