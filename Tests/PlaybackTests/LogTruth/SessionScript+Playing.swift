/// Players that play without interruption, switch, seek, pause and stall.
extension SessionScript {
    /// The low and the high rendition of most shows.
    static let low = "video-90p"
    static let high = "video-270p"

    static let playing = [
        SessionScript(
            testDescription: "in time, from the origin",
            steps: [.fetch(0...5, of: low, in: 1), .wait(20)],
            lines: [
                Line(
                    rendition: low, requests: 6, downloaded: 12, watched: 12, startup: 1, ended: 13,
                    origin: [.of(low, 0...5)])
            ]),
        SessionScript(
            testDescription: "one stall",
            steps: [
                .fetch(0...1, of: low, in: 1), .fetch(2...2, of: low, in: 10), .fetch(3...5, of: low, in: 1), .wait(20),
            ],
            lines: [
                Line(
                    rendition: low, requests: 6, downloaded: 12, watched: 12, stalls: [7], startup: 1, overdue: 1,
                    ended: 20, origin: [.of(low, 0...5)])
            ]),
        SessionScript(
            testDescription: "three stalls, each of another length",
            steps: [
                .fetch(0...0, of: low, in: 1), .fetch(1...1, of: low, in: 4), .fetch(2...2, of: low, in: 6),
                .fetch(3...3, of: low, in: 3), .fetch(4...5, of: low, in: 1), .wait(20),
            ],
            lines: [
                Line(
                    rendition: low, requests: 6, downloaded: 12, watched: 12, stalls: [2, 4, 1], startup: 1, overdue: 3,
                    ended: 20, origin: [.of(low, 0...5)])
            ]),
        SessionScript(
            testDescription: "a long start is not a stall",
            steps: [.load, .wait(1.5), .fetch(0...0, of: low, in: 9), .fetch(1...2, of: low, in: 1), .wait(20)],
            lines: [
                Line(
                    rendition: low, requests: 3, downloaded: 6, watched: 6, startup: 10.5, overdue: 1,
                    origin: [.of(low, 0...2)])
            ]),
        SessionScript(
            testDescription: "another variant from where the first one ended",
            steps: [.fetch(0...2, of: low, in: 1), .fetch(3...8, of: high, in: 1), .wait(30)],
            lines: [
                Line(
                    rendition: low, requests: 3, downloaded: 6, watched: 6, startup: 1, origin: [.of(low, 0...2)]),
                Line(
                    rendition: high, start: 6, requests: 6, downloaded: 12, watched: 12, origin: [.of(high, 3...8)]),
            ],
            switches: 1),
        SessionScript(
            testDescription: "up after the first segment, down in a stall, and up again",
            steps: [
                .fetch(0...0, of: low, in: 1), .fetch(1...4, of: high, in: 1), .fetch(5...5, of: high, in: 15),
                .fetch(6...8, of: low, in: 0.5), .fetch(9...11, of: high, in: 1), .wait(30),
            ],
            // Segment 5 comes at 20 s; 10 s of media have played since 1 s.
            lines: [
                Line(rendition: low, requests: 1, downloaded: 2, watched: 2, startup: 1, origin: [.of(low, 0...0)]),
                Line(
                    rendition: high, start: 2, requests: 5, downloaded: 10, watched: 10, stalls: [9], overdue: 1,
                    origin: [.of(high, 1...5)]),
                Line(
                    rendition: low, start: 12, requests: 3, downloaded: 6, watched: 6, origin: [.of(low, 6...8)]),
                Line(
                    rendition: high, start: 18, requests: 3, downloaded: 6, watched: 6, origin: [.of(high, 9...11)]),
            ],
            switches: 3),
        SessionScript(
            testDescription: "far ahead in one quality, then in the other",
            steps: [.fetch(0...14, of: low, in: 0.2), .fetch(15...29, of: high, in: 0.2), .wait(90)],
            lines: [
                Line(
                    rendition: low, requests: 15, downloaded: 30, watched: 30, startup: 0.2,
                    origin: [.of(low, 0...14)]),
                Line(
                    rendition: high, start: 30, requests: 15, downloaded: 30, watched: 30,
                    origin: [.of(high, 15...29)]),
            ],
            switches: 1),
        SessionScript(
            testDescription: "the beginnings of all variants, and one of them to the end",
            steps: [.fetch(0...0, of: low, in: 0.5), .fetch(0...5, of: high, in: 0.5), .wait(30)],
            lines: [
                Line(
                    rendition: high, requests: 7, downloaded: 14, watched: 12, startup: 0.5,
                    origin: [.of(low, 0...0), .of(high, 0...5)])
            ],
            slack: 2),
        SessionScript(
            testDescription: "a seek ahead",
            steps: [.fetch(0...2, of: low, in: 1), .fetch(30...32, of: low, in: 1), .wait(30)],
            lines: [
                Line(
                    rendition: low, requests: 3, downloaded: 6, watched: 2, startup: 1, ended: 3,
                    origin: [.of(low, 0...2)]),
                Line(
                    rendition: low, start: 60, requests: 3, downloaded: 6, watched: 6, startup: 1, ended: 10,
                    origin: [.of(low, 30...32)]),
            ]),
        SessionScript(
            testDescription: "a seek back into what is stored by now",
            steps: [.fetch(0...2, of: low, in: 1), .wait(10), .take(0...2, of: low), .wait(20)],
            lines: [
                Line(rendition: low, requests: 3, downloaded: 6, watched: 6, startup: 1, origin: [.of(low, 0...2)]),
                Line(rendition: low, requests: 3, downloaded: 6, watched: 6, startup: 0, store: [.of(low, 0...2)]),
            ]),
        SessionScript(
            testDescription: "a stall that a seek ends",
            steps: [
                .fetch(0...0, of: low, in: 1), .leave(1, of: low, after: 1000, in: 6),
                .fetch(30...32, of: low, in: 1), .wait(20),
            ],
            lines: [
                Line(
                    rendition: low, requests: 2, downloaded: 2, watched: 2, stalls: [4], startup: 1,
                    origin: [.of(low, 0...0)], partial: 1000),
                Line(
                    rendition: low, start: 60, requests: 3, downloaded: 6, watched: 6, startup: 1,
                    origin: [.of(low, 30...32)]),
            ]),
        SessionScript(
            testDescription: "a pause that the player does not report",
            steps: [.fetch(0...2, of: low, in: 0.5), .wait(50), .fetch(3...5, of: low, in: 0.5), .wait(20)],
            lines: [
                Line(
                    rendition: low, requests: 6, downloaded: 12, watched: 12, startup: 0.5, origin: [.of(low, 0...5)])
            ]),
        SessionScript(
            testDescription: "a pause that ends the session, and one more after it",
            steps: [
                .fetch(0...2, of: low, in: 0.5), .wait(300), .idle, .fetch(3...5, of: low, in: 0.5), .wait(20),
            ],
            lines: [
                Line(
                    rendition: low, requests: 3, downloaded: 6, watched: 6, startup: 0.5, ended: 6.5,
                    origin: [.of(low, 0...2)]),
                Line(
                    rendition: low, start: 6, requests: 3, downloaded: 6, watched: 6, origin: [.of(low, 3...5)]),
            ]),
        SessionScript(
            testDescription: "the player leaves in the midst of a segment",
            steps: [
                .fetch(0...1, of: low, in: 1), .leave(2, of: low, after: 5000, in: 2.5), .wait(200), .idle,
            ],
            lines: [
                Line(
                    rendition: low, requests: 3, downloaded: 4, watched: 4, startup: 1, ended: 5,
                    origin: [.of(low, 0...1)], partial: 5000)
            ]),
    ]
}
