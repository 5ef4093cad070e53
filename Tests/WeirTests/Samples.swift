import Control
import Orders
import WeirAPI

/// The download of the manual's example, at 63 %.
var sampleDownload: API.Download {
    var download = API.Download(id: "d1", asset: "sintel")
    download.state = .running
    download.stage = .video
    download.loaded = [.init(start: 0, end: 559.2)]
    download.duration = 888.1
    download.bytes = 158_334_976
    download.totalBytes = 251_658_240
    download.fraction = 0.6291
    download.rate = 5_347_000
    download.eta = 17
    download.selection = API.Tracks(
        variants: [sampleVariant],
        audio: [API.Rendition(id: "audio-en", group: "a", name: "English", language: "en", isDefault: true)],
        subtitles: [API.Rendition(id: "subtitles-en", group: "s", name: "English", language: "en")])
    return download
}

/// A variant of 720 lines.
var sampleVariant: API.Variant {
    var variant = API.Variant(id: "video-720p", stored: .partlySaved, bytes: 158_334_976)
    variant.width = 1280
    variant.height = 720
    variant.codecs = "avc1.64001f,mp4a.40.2"
    variant.bandwidth = 2_100_000
    variant.estimatedBytes = 251_658_240
    return variant
}

/// The choice of the sample's variant, with a rejected variant of 360 lines.
var sampleExplanation: API.Explanation {
    API.Explanation(
        chosen: .init(index: 1, id: "video-720p", reason: "the highest bit rate"),
        others: [.init(index: 0, id: "video-360p", reason: "has a lower bit rate")], selection: sampleDownload.selection
    )
}

extension API.Download {
    /// A copy of the sample download with changes.
    func with(_ change: (inout API.Download) -> Void) -> API.Download {
        var copy = self
        change(&copy)
        return copy
    }
}
