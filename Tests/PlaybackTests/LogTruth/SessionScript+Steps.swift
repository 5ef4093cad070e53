import AccessLog
import EventLoop
import TestRooms
import TestSupport

@testable import Playback
@testable import Sessions

extension SessionScript {
    /// An action of a player, or an event that affects it.
    struct Step: Sendable {
        let perform: @LoopActor @Sendable (ScriptedStage) async throws -> Void

        /// Loads the entry playlist by a path of Weir's.
        static func load(_ view: String, by player: Int = 0) -> Step {
            Step { stage in try await stage.load(player, view) }
        }

        /// Loads the entry playlist by the origin's URL. Without this step, the first request loads it.
        static let load = Step { stage in try await stage.load() }

        /// Loads the entry playlist by the origin's URL behind a prefix such as `/auto`.
        static func load(behind prefix: String) -> Step {
            Step { stage in try await stage.load(0, prefix + stage.fixture.typed(stage.show.entry)) }
        }

        /// Advances the clock without a request.
        static func wait(_ seconds: Double) -> Step { Step { stage in await stage.wait(seconds) } }

        /// Fetches segments one after the other, each in `seconds`.
        static func fetch(
            _ numbers: ClosedRange<Int>, of rendition: String, in seconds: Double, by player: Int = 0,
            tells data: String? = nil, served: String? = nil
        ) -> Step {
            Step { stage in
                for number in numbers {
                    try await stage.ask(number, of: rendition, by: player, data, served: served)
                    await stage.wait(seconds)
                    try await stage.arrive(number, of: rendition, by: player, served: served)
                }
            }
        }

        /// Two players request the same segments at once; the second joins the fetches of the first.
        static func share(_ numbers: ClosedRange<Int>, of rendition: String, in seconds: Double) -> Step {
            Step { stage in
                for number in numbers {
                    try await stage.ask(number, of: rendition, by: 0)
                    try await stage.ask(number, of: rendition, by: 1, isJoined: true)
                    await stage.wait(seconds)
                    try await stage.arrive(number, of: rendition, by: 0)
                    try await stage.arrive(number, of: rendition, by: 1)
                }
            }
        }

        /// Requests stored segments, one every `seconds`.
        static func take(
            _ numbers: ClosedRange<Int>, of rendition: String, every seconds: Double = 0, by player: Int = 0,
            tells data: String? = nil
        ) -> Step {
            Step { stage in
                for number in numbers {
                    try await stage.take(number, of: rendition, by: player, data.map { ["CMCD-Request": $0] } ?? [:])
                    if seconds > 0 {
                        await stage.wait(seconds)
                    }
                }
            }
        }

        /// Requests an initialization section, which comes at once.
        static func section(of rendition: String) -> Step {
            Step { stage in try await stage.take(nil, of: rendition) }
        }

        /// Requests a byte range of a segment, or only its head.
        static func ask(
            _ number: Int, of rendition: String, _ method: String = "GET", range: String? = nil, status: Int
        ) -> Step {
            Step { stage in
                let fields = range.map { ["Range": $0] } ?? [:]
                try await stage.take(number, of: rendition, fields, method: method, status: status)
            }
        }

        /// Requests a segment, which the origin refuses twice: Weir asks once more.
        static func refused(_ number: Int, of rendition: String, origin: Int, status: Int) -> Step {
            Step { stage in
                try await stage.fixture.origin.add(
                    OriginRule(stage.show.path(number, of: rendition)) { ($0.status, $0.times) = (origin, 2) })
                try await stage.take(number, of: rendition, status: status)
            }
        }

        /// Requests a segment, of which the origin sends only the first bytes.
        static func brokenOff(_ number: Int, of rendition: String, after bytes: Int) -> Step {
            Step { stage in
                let path = stage.show.path(number, of: rendition)
                try await stage.fixture.origin.add(
                    OriginRule(path) { ($0.cutAfter, $0.times) = (bytes, 1) },
                    OriginRule(path) { ($0.status, $0.times) = (404, 2) })
                try await stage.take(number, of: rendition, isComplete: false)
            }
        }

        /// Requests a segment, and leaves after some bytes and seconds.
        static func leave(_ number: Int, of rendition: String, after bytes: Int, in seconds: Double) -> Step {
            Step { stage in try await stage.leave(number, of: rendition, after: bytes, in: seconds) }
        }

        /// Ends idle sessions.
        static let idle = Step { stage in stage.fixture.playback.sessions.endIdle() }

        /// Continues with a session id that Weir never issued.
        static func pretend(_ session: String) -> Step { Step { stage in try await stage.pretend(session, 0) } }
    }
}
