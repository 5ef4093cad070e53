import AccessLog
import Playback

/// Players of media that is stored, being fetched, live, partial, or chosen by Weir.
extension SessionScript {
    static let sources = [
        SessionScript(
            testDescription: "out of the store, by the URL",
            stored: [.of(low, 0...5)],
            steps: [.load, .wait(0.5), .take(0...5, of: low, every: 1), .wait(20)],
            lines: [
                Line(rendition: low, requests: 6, downloaded: 12, watched: 12, startup: 0.5, store: [.of(low, 0...5)])
            ]),
        SessionScript(
            testDescription: "half from the store, then from the origin",
            stored: [.of(low, 0...2)],
            steps: [.take(0...2, of: low, every: 0.5), .fetch(3...5, of: low, in: 1), .wait(20)],
            lines: [
                Line(
                    rendition: low, requests: 6, downloaded: 12, watched: 12, startup: 0, origin: [.of(low, 3...5)],
                    store: [.of(low, 0...2)])
            ]),
        SessionScript(
            testDescription: "with a hole in the store where it stalls",
            stored: [.of(low, 0...1), .of(low, 3...5)],
            steps: [.take(0...1, of: low), .fetch(2...2, of: low, in: 10), .take(3...5, of: low, every: 1), .wait(20)],
            lines: [
                Line(
                    rendition: low, requests: 6, downloaded: 12, watched: 12, stalls: [6], startup: 0, overdue: 1,
                    origin: [.of(low, 2...2)], store: [.of(low, 0...1), .of(low, 3...5)])
            ]),
        SessionScript(
            testDescription: "two at once, of which each gets what the other began",
            steps: [
                .share(0...2, of: low, in: 1), .fetch(3...4, of: low, in: 1, by: 1), .take(3...4, of: low), .wait(30),
            ],
            lines: [
                Line(
                    rendition: low, requests: 5, downloaded: 10, watched: 10, startup: 1, origin: [.of(low, 0...2)],
                    store: [.of(low, 3...4)]),
                Line(
                    player: 1, rendition: low, requests: 5, downloaded: 10, watched: 10, startup: 1,
                    origin: [.of(low, 3...4)], joined: [.of(low, 0...2)]),
            ]),
        SessionScript(
            testDescription: "live, with a stall", show: .live,
            steps: [
                .fetch(0...1, of: "media", in: 1), .fetch(2...2, of: "media", in: 5), .fetch(3...3, of: "media", in: 1),
                .wait(20),
            ],
            lines: [
                Line(
                    rendition: "media", requests: 4, downloaded: 8, watched: 8, stalls: [2], startup: 1, overdue: 1,
                    type: .live, origin: [.of("media", 0...3)])
            ]),
        SessionScript(
            testDescription: "sound of its own", show: .cmaf,
            steps: [
                .section(of: sound), .section(of: middle), .fetch(0...0, of: sound, in: 0.5),
                .fetch(0...1, of: middle, in: 0.5), .fetch(1...1, of: sound, in: 0.5),
                .fetch(2...3, of: middle, in: 0.5), .fetch(2...2, of: sound, in: 0.5),
                .fetch(4...5, of: middle, in: 0.5), .wait(20),
            ],
            lines: [
                Line(
                    rendition: middle, requests: 9, downloaded: 6, watched: 6, startup: 1,
                    origin: [.of(sound, 0...2, section: true), .of(middle, 0...5, section: true)])
            ],
            slack: 1),
        SessionScript(
            testDescription: "sound of its own that stalls", show: .cmaf,
            steps: [
                .section(of: sound), .section(of: middle), .fetch(0...0, of: sound, in: 0.5),
                .fetch(0...3, of: middle, in: 0.5), .fetch(1...1, of: sound, in: 9), .fetch(4...4, of: middle, in: 0.5),
                .wait(20),
            ],
            // Audio and video play from 1 s; the audio ends after 2.005 s of media, and continues at 11.5 s.
            lines: [
                Line(
                    rendition: middle, requests: 7, downloaded: 5, watched: 4.011, stalls: [8.495], startup: 1,
                    overdue: 1,
                    origin: [.of(sound, 0...1, section: true), .of(middle, 0...4, section: true)])
            ],
            slack: 1),
        SessionScript(
            testDescription: "one variant, of which the quality is chosen for it", show: .ladder,
            steps: [
                .load(behind: "/auto"), .fetch(0...0, of: middle, in: 1),
                .fetch(1...5, of: middle, in: 1, served: high), .wait(30),
            ],
            lines: [
                Line(
                    rendition: middle, requests: 1, downloaded: 2, watched: 2, startup: 1, origin: [.of(middle, 0...0)]),
                Line(
                    rendition: high, start: 2, requests: 5, downloaded: 10, watched: 10,
                    origin: [.of(high, 1...5, isJoined: true)]),
            ],
            switches: 1),
        SessionScript(
            testDescription: "offline", show: .ts,
            stored: [.of(low, 0...5)],
            steps: [.load("/offline/ts.m3u8"), .take(0...5, of: low, every: 1), .wait(20)],
            lines: [
                Line(
                    rendition: low, requests: 6, downloaded: 12, watched: 12, startup: 0, type: .file,
                    store: [.of(low, 0...5)])
            ]),
        SessionScript(
            testDescription: "offline, where a lower quality stands in", show: .ts,
            stored: [.of(middle, 0...5), .of(high, 0...1)],
            steps: [.load("/offline/ts.m3u8"), .take(0...5, of: high, every: 1), .wait(20)],
            lines: [
                Line(
                    rendition: high, requests: 6, downloaded: 12, watched: 12, startup: 0, type: .file,
                    store: [.of(high, 0...1, isJoined: true), .of(middle, 2...5, isJoined: true)])
            ]),
    ]

    private static let sound = "audio-en"
    private static let middle = "video-180p"
}
