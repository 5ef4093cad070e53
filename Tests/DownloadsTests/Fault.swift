import TestSupport

/// A fault of an origin for one resource.
struct Fault: Sendable, CustomStringConvertible {
    /// The affected resource.
    enum Target: String, CaseIterable, Sendable {
        case segment, range, playlist, multivariant, key, section, subtitle

        var fixture: String {
            switch self {
            case .key: "aes"
            case .range: "byterange-fmp4"
            default: "cmaf"
            }
        }

        var path: String {
            switch self {
            case .segment: "/cmaf/video-90p/3.m4s"
            case .range: "/byterange-fmp4/90p/all.mp4"
            case .playlist: "/cmaf/video-90p/media.m3u8"
            case .multivariant: "/cmaf/master.m3u8"
            case .key: "/aes/keys/1.key"
            case .section: "/cmaf/video-90p/init.mp4"
            case .subtitle: "/cmaf/subtitles-en/2.vtt"
            }
        }

        /// True if the resource is fetched from the start after a cut instead of being resumed.
        var isPlaylist: Bool { self == .playlist || self == .multivariant }

        /// A number of bytes so small that two responses of that length do not reach the end of the resource.
        var half: Int {
            switch self {
            case .segment, .range: 2900
            case .section: 450
            case .playlist, .multivariant: 100
            case .subtitle: 70
            case .key: 10
            }
        }
    }

    let description: String
    /// True if a download recovers from a single occurrence.
    var passes: @Sendable (Target) -> Bool = { _ in true }
    /// True if a permanent occurrence is harmless.
    var isHarmless: @Sendable (Target) -> Bool = { _ in false }
    /// True if the fault applies to the resource.
    var concerns: @Sendable (Target) -> Bool = { _ in true }
    /// The origin's rule for the first request. `later` is the rule for further requests; nil for the same rule.
    let change: @Sendable (inout OriginRule, Target) -> Void
    var later: (@Sendable (inout OriginRule) -> Void)?

    /// The rules for the origin.
    func rules(_ target: Target, isOnce: Bool) -> [OriginRule] {
        var rule = OriginRule(target.path)
        change(&rule, target)
        if isOnce || later != nil {
            rule.times = 1
        }
        guard let later, !isOnce else { return [rule] }
        return [rule, OriginRule(target.path, later)]
    }

    /// Faults of lengths, connections, validators and statuses.
    static let all: [Fault] = connections + lengths + contents + statuses

    private static let connections = [
        // A cut body is resumed, so each attempt makes progress.
        Fault(description: "cuts the body", isHarmless: { !$0.isPlaylist }) { $0.cutAfter = $1.half },
        Fault(description: "cuts a chunked body", isHarmless: { !$0.isPlaylist }) {
            ($0.chunked, $0.cutAfter) = (true, $1.half)
        },
        Fault(description: "resets in the body", isHarmless: { !$0.isPlaylist }) { $0.resetAfter = $1.half },
        Fault(description: "stalls in the body", isHarmless: { !$0.isPlaylist }) { $0.stallAfter = $1.half },
        Fault(description: "stalls before the head") { rule, _ in rule.hold = true },
        Fault(description: "closes before the head") { rule, _ in rule.cutAfter = -1 },
        Fault(description: "resets before the head") { rule, _ in rule.resetAfter = -1 },
    ]

    private static let lengths = [
        // A key is never that long.
        Fault(description: "announces too much", passes: { $0 != .key }, isHarmless: { $0 != .key }) {
            rule, _ in rule.contentLength = 1_000_000
        },
        Fault(description: "announces too little", isHarmless: { _ in true }) {
            $0.contentLength = $1 == .section ? 300 : 8
        },
        Fault(
            description: "closes in a body without a length", passes: { $0 != .key }, isHarmless: { $0 == .range },
            concerns: { !$0.isPlaylist && $0 != .subtitle }
        ) { ($0.untilClose, $0.cutAfter) = (true, $1.half) },
        Fault(description: "announces a negative length", isHarmless: { _ in true }) { rule, _ in
            rule.headers = ["Content-Length": "-1"]
        },
        Fault(description: "answers 200 to a range", isHarmless: { $0 != .range }) { rule, _ in rule.ignoreRange = true
        },
    ]

    private static let contents = [
        Fault(description: "redirects in a loop", passes: { _ in false }) { $0.redirect = $1.path },
        Fault(description: "changes its tag", isHarmless: { _ in true }) {
            ($0.etag, $0.cutAfter) = ("other", $1.half)
        } later: {
            $0.etag = "new"
        },
        Fault(description: "changes its content") {
            ($0.etag, $0.cutAfter) = ("other", $1.half)
        } later: {
            ($0.status, $0.body) = (200, "something else by now")
        },
        Fault(description: "sends a page", passes: { !$0.isPlaylist }) { rule, _ in rule.html = true },
        // A segment of subtitles may be empty, and is stored if it is so twice.
        Fault(
            description: "sends nothing", passes: { !$0.isPlaylist }, concerns: { $0 != .subtitle }
        ) { rule, _ in
            rule.status = 200
            rule.body = ""
        },
    ]

    private static let statuses =
        [401, 403, 404, 410].map { (status: Int) in
            // Busy edges answer 403 and 404 for a moment.
            Fault(description: "answers \(status)", passes: { !$0.isPlaylist && [403, 404].contains(status) }) {
                rule, _ in rule.status = status
            }
        }
        + [429, 500, 503].map { (status: Int) in
            Fault(description: "answers \(status)") { rule, _ in
                rule.status = status
                rule.headers = ["Retry-After": "1"]
            }
        }
}
