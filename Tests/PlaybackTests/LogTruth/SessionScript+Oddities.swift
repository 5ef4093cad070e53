import AccessLog
import Playback

/// Players that report their state, report wrong values, or request missing segments; and origins that fail.
extension SessionScript {
    static let oddities = [
        SessionScript(
            testDescription: "a player that reports its start and its stall",
            steps: [
                .fetch(0...0, of: low, in: 1, tells: "su,bl=0"), .fetch(1...1, of: low, in: 1, tells: "su,bl=2000"),
                .fetch(2...2, of: low, in: 1, tells: "bl=4000"), .fetch(3...3, of: low, in: 9, tells: "bl=5000"),
                .fetch(4...4, of: low, in: 1, tells: "bl=2000,bs"), .fetch(5...5, of: low, in: 1, tells: "bl=3000"),
                .wait(20),
            ],
            lines: [
                Line(
                    rendition: low, requests: 6, downloaded: 12, watched: 12, stalls: [4], startup: 2, overdue: 1,
                    origin: [.of(low, 0...5)], told: told)
            ]),
        SessionScript(
            testDescription: "a player that reports its pause and its speed",
            steps: [
                .fetch(0...1, of: low, in: 1, tells: "pr=1"), .fetch(2...2, of: low, in: 30, tells: "pr=0"),
                .fetch(3...5, of: low, in: 1, tells: "pr=2"), .wait(20),
            ],
            // 1 s has played before the pause; from 32 s on, playback runs at double speed.
            lines: [
                Line(
                    rendition: low, requests: 6, downloaded: 12, watched: 12, startup: 1, overdue: 1, ended: 37.5,
                    origin: [.of(low, 0...5)])
            ]),
        SessionScript(
            testDescription: "a player that knows of no stall where one would be inferred",
            steps: [
                .fetch(0...0, of: low, in: 1, tells: "bl=0"), .fetch(1...1, of: low, in: 1, tells: "bl=2000"),
                .fetch(2...2, of: low, in: 5, tells: "bl=4000"), .fetch(3...3, of: low, in: 1, tells: "bl=2500"),
                .wait(20),
            ],
            lines: [
                Line(
                    rendition: low, requests: 4, downloaded: 8, watched: 8, startup: 1, overdue: 1,
                    origin: [.of(low, 0...3)], told: told)
            ],
            slack: 2),
        SessionScript(
            testDescription: "a player that reports nonsense",
            steps: [
                .fetch(
                    0...5, of: low, in: 1,
                    tells: "bl=-5,pr=1e300,bs=no,su=perhaps,bl=9e99,sid=\"x\\\"y,,=,pr=,pr=NaN,tb=\"bs\",bl=0x10"),
                .wait(20),
            ],
            lines: [
                Line(
                    rendition: low, requests: 6, downloaded: 12, watched: 12, startup: 1, ended: 13,
                    origin: [.of(low, 0...5)])
            ]),
        SessionScript(
            testDescription: "a player that falsely reports starvation while it has a minute of media",
            stored: [.of(low, 0...29)],
            steps: [
                .take(0...19, of: low, tells: "bs"), .take(20...29, of: low, every: 1, tells: "bs"), .wait(90),
            ],
            lines: [
                Line(
                    rendition: low, requests: 30, downloaded: 60, watched: 60, startup: 0, store: [.of(low, 0...29)],
                    told: told)
            ],
            slack: 2),
        SessionScript(
            testDescription: "a player that falsely reports a day of media",
            steps: [.fetch(0...5, of: low, in: 1, tells: "bl=99999999999"), .wait(20)],
            lines: [
                Line(
                    rendition: low, requests: 6, downloaded: 12, watched: 12, startup: 1, origin: [.of(low, 0...5)],
                    told: told)
            ]),
        SessionScript(
            testDescription: "a player that reports a seek within its buffer",
            stored: [.of(low, 0...15)],
            steps: [
                .take(0...14, of: low), .wait(5), .take(15...15, of: low, tells: "bl=10000"), .wait(30),
            ],
            lines: [
                Line(
                    rendition: low, requests: 16, downloaded: 32, watched: 17, startup: 0, ended: 17,
                    store: [.of(low, 0...15)], told: told)
            ]),
        SessionScript(
            testDescription: "a session's id that nobody gave out",
            steps: [.pretend("azzzzz"), .fetch(0...2, of: low, in: 1), .wait(20)],
            lines: [
                Line(rendition: low, requests: 3, downloaded: 6, watched: 6, origin: [.of(low, 0...2)])
            ]),
        SessionScript(
            testDescription: "ranges beyond the end, and heads, are no segments",
            stored: [.of(low, 0...5)],
            steps: [
                .take(0...2, of: low, every: 0.5), .ask(20, of: low, "HEAD", status: 200),
                .ask(4, of: low, "HEAD", status: 200), .ask(5, of: low, range: "bytes=99999999-", status: 416),
                .ask(3, of: low, range: "bytes=0-999", status: 206),
                .ask(3, of: low, range: "bytes=1000-", status: 206), .wait(20),
            ],
            lines: [
                Line(
                    rendition: low, requests: 5, downloaded: 8, watched: 8, startup: 0, store: [.of(low, 0...3)])
            ]),
        SessionScript(
            testDescription: "an origin that fails for a while",
            steps: [
                .fetch(0...1, of: low, in: 1), .refused(2, of: low, origin: 404, status: 404), .wait(6),
                .fetch(2...3, of: low, in: 1), .wait(20),
            ],
            lines: [
                Line(
                    rendition: low, requests: 5, downloaded: 8, watched: 8, stalls: [4], startup: 1,
                    origin: [.of(low, 0...3)])
            ],
            errors: [Trouble(status: 404, domain: .origin, time: 2)]),
        SessionScript(
            testDescription: "an origin that answers so late that others would be given up",
            steps: [
                .fetch(0...1, of: low, in: 1), .fetch(2...2, of: low, in: 20), .fetch(3...3, of: low, in: 1), .wait(20),
            ],
            lines: [
                Line(
                    rendition: low, requests: 4, downloaded: 8, watched: 8, stalls: [17], startup: 1, overdue: 1,
                    origin: [.of(low, 0...3)])
            ]),
        SessionScript(
            testDescription: "an origin that breaks off",
            steps: [
                .fetch(0...1, of: low, in: 1), .brokenOff(2, of: low, after: 5000), .wait(1),
                .fetch(2...3, of: low, in: 1), .wait(20),
            ],
            lines: [
                Line(
                    rendition: low, requests: 5, downloaded: 8, watched: 8, startup: 1, origin: [.of(low, 0...3)],
                    partial: 5000)
            ],
            errors: [Trouble(status: 0, domain: .origin, time: 2)]),
    ]

    /// The indicators that come from a player's buffer reports.
    private static let told: Set = ["stalls", "startup", "watched"]
}
