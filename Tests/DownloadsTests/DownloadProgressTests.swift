import Assets
import EventLoop
import HLS
import Orders
import Testing

@testable import Downloads

@Suite @LoopActor struct DownloadProgressTests {
    private func milliseconds(_ ranges: TimeRanges) -> [String] {
        ranges.ranges.map { "\(Int($0.lowerBound * 1000)) \(Int($0.upperBound * 1000))" }
    }

    @Test func loadedTimeIsTheIntersectionOfRenditions() throws {
        let stored = try StoredAsset("cmaf", "video-90p", "audio-en")
        for number in [0, 1, 2, 6] {
            try stored.put("video-90p/\(number).m4s", bytes: 100)
        }
        for number in [0, 3] {
            try stored.put("audio-en/\(number).m4s", bytes: 50)
        }
        let progress = stored.download("video-90p", "audio-en").progress
        #expect(milliseconds(progress.loaded) == ["0 2005", "6015 7000"])
        #expect(progress.bytes == 500)
        #expect(progress.duration > 12 && progress.duration < 12.1)
        #expect(progress.stage == .video)
        // Video: 400 bytes for 4 of 12 s. Audio: 100 bytes for 4 of 12 s.
        #expect((1400...1550).contains(progress.totalBytes))
        #expect(progress.parts.map(\.id) == ["video-90p", "audio-en"])
        #expect(progress.parts.map(\.kind) == [.video, .audio])
        #expect(progress.parts.map(\.bytes) == [400, 100])
        #expect(progress.parts.allSatisfy { !$0.isComplete && $0.fraction > 0.3 && $0.fraction < 0.36 })
        #expect(abs(progress.fraction - 0.33) < 0.03)
    }

    /// A lone media playlist announces no bit rate.
    @Test func aSizeIsUnknownUntilTwoSegmentsAre() throws {
        let segments = (0..<10).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
        let stored = try StoredAsset(text: "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(segments)#EXT-X-ENDLIST\n")
        #expect(stored.download("media").progress.estimatedBytes == nil)
        try stored.put("media/0.ts", bytes: 100)
        #expect(stored.download("media").progress.estimatedBytes == nil)
        try stored.put("media/1.ts", bytes: 300)
        #expect(stored.download("media").progress.estimatedBytes == 2000)
        for number in 2..<10 {
            try stored.put("media/\(number).ts", bytes: 100)
        }
        #expect(stored.download("media").progress.estimatedBytes == 1200)
    }

    @Test func theFirstEstimateIsTheAnnouncedBandwidth() throws {
        let stored = try StoredAsset("ts", "video-90p")
        let progress = stored.download("video-90p").progress
        let variant = stored.asset.multivariant?.variants.first { $0.renditionIndex == 0 }
        let rate = try #require(variant.map { $0.averageBandwidth ?? $0.bandwidth })
        #expect(abs(Int(progress.totalBytes) - Int(rate) * 12 / 8) < 10)
        #expect(progress.bytes == 0 && progress.loaded == TimeRanges() && progress.fraction == 0)
        #expect(milliseconds(progress.expected) == ["0 12000"])
        #expect(stored.download().progress.totalBytes == 0)
        #expect(stored.download().progress.fraction == 0)
    }

    @Test func aCompleteDownloadHasNoStageAndNoEstimate() throws {
        let stored = try StoredAsset("audio", "audio-2")
        for number in 0..<6 {
            try stored.put("audio-2/\(number).aac", bytes: 10)
        }
        try stored.put("audio-2/6.aac", bytes: 10)
        let progress = stored.download("audio-2").progress
        #expect(progress.stage == nil)
        #expect(progress.totalBytes == progress.bytes)
        #expect(progress.loaded.ranges.count == 1)
        #expect(progress.fraction == 1)
    }

    @Test func theStageIsTheKindOfTheNextResource() throws {
        let stored = try StoredAsset("cmaf", "subtitles-en", "audio-en")
        #expect(stored.download("subtitles-en", "audio-en").progress.stage == .subtitles)
        #expect(stored.download("audio-en", "subtitles-en").progress.stage == .audio)
    }

    /// Numbers that a playlist may state, and whose products and sums no integer holds.
    @Test func absurdNumbersAreNoCrash() throws {
        let range = "#EXT-X-BYTERANGE:4398046511104@0\n"
        let rate = "#EXT-X-BITRATE:2147483647\n"
        let stored = try StoredAsset(
            text: "#EXTM3U\n#EXT-X-VERSION:8\n#EXT-X-TARGETDURATION:1000000000\n"
                + (0..<3000).map { "#EXTINF:1000000000,\n\($0 % 2 == 0 ? range : rate)\($0).ts\n" }.joined()
                + "#EXT-X-ENDLIST\n")
        let id = try #require(stored.asset.renditions.first?.name.id)
        let progress = stored.download(id).progress
        #expect(progress.totalBytes > ByteCount(1 << 42) && progress.bytes == 0)
    }

    @Test func gapsCountAsLoadedWithoutBytes() throws {
        let stored = try StoredAsset(
            text: """
                #EXTM3U
                #EXT-X-VERSION:8
                #EXT-X-TARGETDURATION:4
                #EXTINF:4,
                0.ts
                #EXT-X-GAP
                #EXTINF:4,
                1.ts
                #EXTINF:4,
                2.ts
                #EXT-X-ENDLIST
                """)
        let download = stored.download("media")
        #expect(milliseconds(download.progress.loaded) == ["4000 8000"])
        #expect(download.progress.fraction == 0)
        try stored.put("media/0.ts", bytes: 100)
        #expect(milliseconds(download.progress.loaded) == ["0 8000"])
        #expect(download.progress.fraction == 0.5)
        try stored.put("media/2.ts", bytes: 100)
        #expect(download.progress.fraction == 1 && download.progress.totalBytes == 200)
    }

    @Test func sizesInThePlaylistAreExact() throws {
        let stored = try StoredAsset(
            text: """
                #EXTM3U
                #EXT-X-VERSION:4
                #EXT-X-TARGETDURATION:4
                #EXT-X-BYTERANGE:700@0
                #EXTINF:4,
                a.ts
                #EXT-X-BYTERANGE:300
                #EXTINF:4,
                a.ts
                #EXT-X-BITRATE:8
                #EXTINF:4,
                b.ts
                #EXT-X-ENDLIST
                """)
        #expect(stored.download("media").progress.totalBytes == 5000)
        try stored.put("media/0.ts", bytes: 700)
        #expect(stored.download("media").progress.totalBytes == 5000)
        #expect(stored.download("media").progress.fraction == 0.14)
    }

    @Test func theFractionNeverFalls() throws {
        let stored = try StoredAsset("cmaf", "video-90p", "audio-en", "subtitles-en")
        let download = stored.download("video-90p", "audio-en", "subtitles-en")
        var last = download.progress.fraction
        let files =
            ["video-90p/init-0.mp4", "audio-en/init-0.mp4"]
            + (0..<12).map { "video-90p/\($0).m4s" } + (0..<7).map { "audio-en/\($0).m4s" }
            + (0..<6).map { "subtitles-en/\($0).vtt" }
        for (place, file) in files.shuffled().enumerated() {
            try stored.put(file, bytes: place % 3 == 0 ? 1 : 100_000)
            let fraction = download.progress.fraction
            #expect(fraction >= last && fraction <= 1)
            last = fraction
        }
        #expect(last == 1 && download.isComplete)
    }

    /// Mission S15: the seeds' formula, the sum of loaded ranges over the expected range, ends at 1.
    @Test func theRangesOfACompleteDownloadAddUpToTheWhole() throws {
        let stored = try StoredAsset("cmaf", "video-90p", "audio-en", "subtitles-en")
        let files =
            ["video-90p/init-0.mp4", "audio-en/init-0.mp4"]
            + (0..<12).map { "video-90p/\($0).m4s" } + (0..<7).map { "audio-en/\($0).m4s" }
            + (0..<6).map { "subtitles-en/\($0).vtt" }
        for file in files {
            try stored.put(file)
        }
        let lengths = try ["video-90p", "audio-en", "subtitles-en"].map {
            try #require(stored.rendition($0).source?.playlist.duration.seconds)
        }
        #expect(Set(lengths).count > 1, "the renditions should differ in length")
        let progress = stored.download("video-90p", "audio-en", "subtitles-en").progress
        #expect(progress.loaded == progress.expected && progress.loaded.ranges.count == 1)
        let formula = progress.loaded.ranges.reduce(0) {
            $0 + ($1.upperBound - $1.lowerBound) / progress.expected.duration
        }
        #expect(formula == 1)
        let part = stored.download("video-90p", "audio-en", range: MediaRange(4.5..<6)).progress
        #expect(part.loaded == part.expected && part.loaded.duration < 5)
    }

    /// Mission S16.
    @Test func theFractionIsTheWeightedSumExactly() throws {
        let stored = try StoredAsset("cmaf", "video-90p", "video-180p", "audio-en", "audio-fr", "subtitles-en")
        var task = DownloadTask()
        task.add(.init(Selection(), range: MediaRange(0..<3), renditions: ["video-90p", "audio-en"]))
        task.add(.init(Selection(), renditions: ["video-180p", "audio-en", "audio-fr", "subtitles-en"]))
        let download = Download(stored.asset, task, state: .queued, created: 1)
        let files =
            (0..<12).map { "video-90p/\($0).m4s" } + (0..<12).map { "video-180p/\($0).m4s" }
            + (0..<7).flatMap { ["audio-en/\($0).m4s", "audio-fr/\($0).m4s"] }
            + (0..<6).map { "subtitles-en/\($0).vtt" }
            + ["video-90p", "video-180p", "audio-en", "audio-fr"].map { "\($0)/init-0.mp4" }
        func weigh(_ parts: [DownloadProgress.Part]) -> Double {
            parts.reduce(0) { $0 + $1.weight * $1.fraction }
        }
        for file in files.shuffled() {
            try stored.put(file, bytes: 100)
            let progress = download.progress
            #expect(abs(progress.fraction - weigh(progress.parts)) < 1e-12)
            #expect(abs(progress.parts.reduce(0) { $0 + $1.weight } - 1) < 1e-12)
            for selected in progress.selections {
                #expect(abs(selected.fraction - weigh(selected.parts)) < 1e-12)
                #expect(selected.isComplete == (selected.fraction == 1))
            }
        }
        let end = download.progress
        #expect(end.fraction == 1 && end.selections.map(\.fraction) == [1, 1])
        #expect(end.selections.map { $0.parts.map(\.weight) } == [[0.7, 0.1, 0.1, 0.1], [0.7778, 0.2222]])
    }

    @Test func missingTimeIsWhatIsNotLoaded() {
        func ranges(_ bounds: ClosedRange<Double>...) -> TimeRanges {
            bounds.reduce(into: TimeRanges()) { $0.append($1.lowerBound..<$1.upperBound) }
        }
        let whole = ranges(0...10, 20...30)
        #expect(whole.subtracting(ranges()) == whole && whole.subtracting(whole) == ranges())
        #expect(whole.subtracting(ranges(2...3, 8...22)) == ranges(0...2, 3...8, 22...30))
        #expect(whole.subtracting(ranges(-5...40)) == ranges())
        #expect(whole.subtracting(ranges(0...9.9995)) == ranges(20...30))
    }

}
