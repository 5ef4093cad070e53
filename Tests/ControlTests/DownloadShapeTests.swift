import API
import Testing

@testable import Control

@Suite struct DownloadShapeTests {
    @Test func weightsAreTheSeedsAndAddUp() {
        #expect(API.Download.weights(of: ["video", "audio", "subtitles"]) == [0.7, 0.2, 0.1])
        #expect(API.Download.weights(of: ["video", "audio", "audio", "subtitles"]) == [0.7, 0.1, 0.1, 0.1])
        #expect(API.Download.weights(of: ["video"]) == [1])
        #expect(API.Download.weights(of: ["video", "subtitles"]) == [0.875, 0.125])
        #expect(API.Download.weights(of: []).isEmpty)
    }
}
