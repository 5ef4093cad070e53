internal import HTTPMessage
package import Orders
import SafeText

extension API {
    /// The state of a persisted download: `GET /api/v1/downloads/<id>`.
    package struct Download: Codable, Equatable, Sendable {
        /// A range of media time, `[start, end)` in seconds; in JSON an array of the two.
        package struct TimeRange: Codable, Equatable, Sendable {
            package var start: Double
            package var end: Double
            package init(start: Double, end: Double) {
                self.start = API.milliseconds(start)
                self.end = API.milliseconds(end)
            }

            package init(from decoder: any Decoder) throws {
                var values = try decoder.unkeyedContainer()
                let start = try values.decode(Seconds.self)
                let end = try values.decode(Seconds.self)
                self.init(start: start.value, end: end.value)
            }

            package func encode(to encoder: any Encoder) throws {
                var values = encoder.unkeyedContainer()
                try values.encode(start)
                try values.encode(end)
            }
        }

        /// The reason why a download failed or waits.
        package struct Failure: Codable, Equatable, Sendable {
            /// The kind, as in `Problem.code`.
            package var code: APIError.Code
            package var message: String
            package init(code: APIError.Code, message: String) {
                self.code = code
                self.message = message
            }
        }

        /// The id of the download, which equals its asset's id: an asset has one download.
        package var id: String
        package var asset: String
        package var title: String?
        package var state = JobState.queued
        /// The missing condition; absent unless the state is `waiting`.
        package var need: Need?
        package var priority = Priority.default
        package var note: String?
        /// Kind of media being fetched, for display; absent if there is none.
        package var stage: TrackKind?
        /// Stored ranges of media time that are playable in all selected tracks, in order.
        package var loaded: [TimeRange] = []
        /// Selected ranges, rounded to whole segments; empty before a media playlist was read, and for a recording.
        package var expected: [TimeRange] = []
        /// True for a recording, whose final length is unknown; absent otherwise.
        package var isRecording: Bool?
        /// Progress from 0 to 1: the sum of the parts' fractions by their weights. Never falls while the download runs; 1 only
        /// when everything is stored.
        package var fraction = 0.0
        package var parts: [Part] = []
        /// The selections, in the order in which they are fetched; absent in a list of complete downloads.
        package var selections: [Selected]?
        /// The media's length in seconds; absent until a media playlist was read.
        package var duration: Double?
        /// Stored bytes of the selection.
        package var bytes = 0
        /// The expected size of the selection: an estimate until the download is complete. Absent while it is unknown.
        package var totalBytes: Int?
        /// Bytes of pieces on their way, which are not stored yet; absent if there are none.
        package var arriving: Int?
        /// Recent rate in bytes per second, over 5 s or more; absent unless `running`, and in the first second.
        package var rate: Int?
        /// Seconds since the last byte, once there are 10; `rate` is 0 then. Absent otherwise.
        package var silence: Int?
        /// Estimated seconds to the end; absent unless the state is `running` and the time is known to a factor of two.
        package var eta: Int?
        /// The selected tracks: one or more variants with renditions. Empty before the playlists were read.
        package var selection = Tracks()
        /// The tracks that a further download can add; absent in lists and events.
        package var unselected: Tracks?
        /// Reason for `failed` or `waiting`.
        package var error: Failure?
        /// All reasons why it does not go on, the first one first; absent if it does, and for a pause without a reason.
        package var reasons: [Reason]?
        /// The rules that differ from the configuration's; absent if none does.
        package var rules: DownloadRules.Change?
        /// The account of the download; absent before its end.
        package var summary: Summary?
        /// The part of the latest order that the origin does not deliver, so that less or something else is downloaded;
        /// absent if there is none.
        package var shortfall: Shortfall?
        /// A sentence about the origin's other content, if the download fetches that beside the old; absent otherwise.
        package var otherContent: String?
        package init(id: String, asset: String, title: String? = nil) {
            self.id = id
            self.asset = asset
            self.title = title
        }

        package var loadedDuration: Double { Self.duration(of: loaded) }

        /// Selected seconds of media; absent as long as `duration` is.
        package var expectedDuration: Double? {
            guard !expected.isEmpty else { return duration }
            return Self.duration(of: expected)
        }

        /// Stored share of the selected media time, from 0 to 1; absent as long as `duration` is. A complete download
        /// is 1: its tracks may end a little before the longest one does.
        package var loadedFraction: Double? {
            guard state != .complete else { return 1 }
            guard let wanted = expectedDuration, wanted > 0 else { return nil }
            return min(1, loadedDuration / wanted)
        }

        private static func duration(of ranges: [TimeRange]) -> Double {
            ranges.reduce(0) { $0 + max(0, $1.end - $1.start) }
        }
    }

    /// The response of `GET /api/v1/downloads`.
    package struct DownloadList: Codable, Equatable, Sendable {
        /// The downloads in the order of the requests. Complete ones have no `loaded`, `expected`, `parts` and
        /// `selection`, and `bytes` is the asset's stored size.
        package var downloads: [Download]
        package init(downloads: [Download]) { self.downloads = downloads }
    }

    /// The body of `POST /api/v1/downloads`: starts, resumes or extends the download of an asset, or attaches to it.
    ///
    /// As the body of `POST /api/v1/selection` it starts nothing, and the response is a `Presentation` with its
    /// `explanation`.
    package struct DownloadRequest: Equatable, Sendable {
        /// An origin URL, or the name of a known asset.
        package var source: String
        /// In JSON its keys are beside the others.
        package var order: DownloadOrder
        /// The name of the asset, also of one that has another so far; if absent, that of a new one is derived from the URL.
        package var name: String?
        package var title: String?
        /// The URL of an image for the asset: JPEG, PNG or WebP, at most 4 MB.
        package var artwork: String?
        package var headers: [Header]?
        /// Lines of a cookie file in Netscape's format. Those that match a host of the presentation are kept.
        package var cookies: [String]?
        /// The way to the origin; absent for the former one.
        package var route: Route?
        /// True if the source is of a link that the user did not write, so that it must not lead to a private address.
        package var isFromLink: Bool?
        package init(source: String, _ selection: Selection = Selection()) {
            self.source = source
            order = DownloadOrder(selection)
        }

        /// The request, with defaults for the keys that its selections leave out.
        package func with(defaults: Selection) -> Self {
            var all = self
            all.order = order.with(defaults: defaults)
            return all
        }
    }

    /// The body of `POST /api/v1/presentation`: opens an asset for players, with header fields and cookies for its origin.
    package struct PresentationRequest: Codable, Equatable, Sendable {
        /// An origin URL, or the name of a known asset.
        package var source: String
        /// Header fields of each request to the origin; if absent, the former ones.
        package var headers: [Header]?
        /// As in `DownloadRequest`.
        package var cookies: [String]?
        /// The URL of an audio playlist that is played with the video playlist at `source`; absent for a presentation.
        package var audio: String?
        /// As in `DownloadRequest`.
        package var route: Route?
        package init(source: String) { self.source = source }
    }

    /// The body of `POST /api/v1/paste`: a browser's "Copy as cURL (bash)". Its header fields are secrets.
    package struct PastedText: Codable, Equatable, Sendable {
        package var text: String
        package init(text: String) { self.text = text }
    }

    /// The body of `POST /api/v1/downloads/<id>/resume` and `/pause`. Optional.
    package struct ResumeRequest: Codable, Equatable, Sendable {
        /// A new URL of the asset, for example after its former URL has expired.
        package var url: String?
        /// New header fields of each request to the origin; if absent, the former ones, for the same origin only.
        package var headers: [Header]?
        /// As in `DownloadRequest`.
        package var cookies: [String]?
        /// As in `DownloadRequest`.
        package var route: Route?
        /// Only for `/pause`: a reason in the user's words, at most 500 bytes, shown until the download is resumed.
        package var reason: String?
        package init(url: String? = nil, headers: [Header]? = nil, route: Route? = nil, reason: String? = nil) {
            self.url = url
            self.headers = headers
            self.route = route
            self.reason = reason
        }
    }

    /// A change of an existing download: `POST /api/v1/downloads/<id>/<change>`.
    package enum DownloadChange: String, Sendable, CaseIterable {
        case pause
        /// Resumes the download, even after a failure or a cancellation. A waiting download tries again at once.
        case resume
        case cancel
        /// Lets it begin before all others that wait for their turn.
        case first
    }

    /// The way to the origin of an asset. It stays with the asset; what is absent stays as it was.
    package struct Route: Codable, Equatable, Sendable {
        /// The proxy: a URL with http, https, socks4a, socks5 or socks5h; `direct` for none; empty for the
        /// configuration's. Secret.
        package var proxy: String?
        /// Names, addresses and networks that may be private, with a port or without; empty for none.
        package var allowHosts: [String]?
        /// True if certificates are not verified.
        package var insecure: Bool?
        /// The path of a file with a client certificate in PEM, which the daemon can read; empty for none.
        package var certificate: String?
        /// The path of the certificate's key; absent or empty if it is in the same file.
        package var key: String?
        /// The hosts that the certificate is shown to, besides the origin of the URL: as `Header.host`; empty for none.
        package var certificateHosts: [String]?
        package init() {}
    }

    /// A header field for requests to the asset's origin, by the rules of `UserFields`. The value is a secret: no response and no
    /// message contains it.
    package struct Header: Codable, Equatable, Sendable, CustomStringConvertible {
        package var name: String
        package var value: String
        /// The only hosts that get it: a name with a port or without, `*.site`, or `*` for all; absent for the asset's origin.
        package var host: String?

        /// Parses `Name: value`; nil if the text is not a field line (RFC 9110 §5).
        package init?(_ line: String, host: String? = nil) {
            guard let field = FieldLine(Array(line.utf8)) else { return nil }
            name = field.name
            value = field.value
            self.host = host
        }

        package var line: String {
            guard let host else { return "\(name): \(value)" }
            return "@\(host) \(name): \(value)"
        }

        /// The name without the value, which is a secret.
        package var description: String { name }
    }
}

extension API.DownloadRequest: Codable {
    /// The keys beside those of the order.
    private enum Key: String, CodingKey {
        case source, name, title, artwork, headers, cookies, route, isFromLink
    }

    package init(from decoder: any Decoder) throws {
        order = try DownloadOrder(from: decoder)
        let values = try decoder.container(keyedBy: Key.self)
        source = try values.decode(String.self, forKey: .source)
        name = try values.decodeIfPresent(String.self, forKey: .name)
        title = try values.decodeIfPresent(String.self, forKey: .title)
        artwork = try values.decodeIfPresent(String.self, forKey: .artwork)
        headers = try values.decodeIfPresent([API.Header].self, forKey: .headers)
        cookies = try values.decodeIfPresent([String].self, forKey: .cookies)
        route = try values.decodeIfPresent(API.Route.self, forKey: .route)
        isFromLink = try values.decodeIfPresent(Bool.self, forKey: .isFromLink)
    }

    package func encode(to encoder: any Encoder) throws {
        try order.encode(to: encoder)
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(source, forKey: .source)
        try values.encodeIfPresent(name, forKey: .name)
        try values.encodeIfPresent(title, forKey: .title)
        try values.encodeIfPresent(artwork, forKey: .artwork)
        try values.encodeIfPresent(headers, forKey: .headers)
        try values.encodeIfPresent(cookies, forKey: .cookies)
        try values.encodeIfPresent(route, forKey: .route)
        try values.encodeIfPresent(isFromLink, forKey: .isFromLink)
    }
}

extension API.Download {
    /// Progress of a rendition of a download.
    package struct Part: Codable, Equatable, Sendable {
        package var id: String
        package var kind: TrackKind
        /// Stored ranges of the selected media time, in order. A gap of the origin (EXT-X-GAP) counts as stored.
        package var loaded: [TimeRange] = []
        /// Selected ranges of media time, in order.
        package var expected: [TimeRange] = []
        package var bytes = 0
        /// Absent while it is unknown: the playlist announces no bit rate, and fewer than two segments are stored.
        package var totalBytes: Int?
        /// Progress from 0 to 1, by bytes: an estimate, and 1 only when everything is stored.
        package var fraction = 0.0
        /// Share of the whole: 70 for video, 20 for audio and 10 for subtitles, spread over the renditions of a kind and
        /// scaled to a sum of 1.
        package var weight = 0.0
        package var isComplete = false
        package init(id: String, kind: TrackKind) {
            self.id = id
            self.kind = kind
        }
    }
}
