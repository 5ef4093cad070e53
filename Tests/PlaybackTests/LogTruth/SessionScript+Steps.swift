import AccessLog
import EventLoop
import TestSupport

@testable import Playback

extension SessionScript {
    /// Something that a player does, or that happens to it.
    struct Step: Sendable {
        /// Does it.
        let perform: @LoopActor @Sendable (ScriptedStage) async throws -> Void

        /// Loads the entry playlist by a path of Weir's.
        static func load(_ view: String, by player: Int = 0) -> Step {
            Step { stage in try await stage.load(player, view) }
        }

        /// Loads the entry playlist by the origin's URL; without this step that is done with the first request.
        static let load = Step { stage in try await stage.load() }

        /// The same by what stands in front of the origin's URL, such as `/auto`.
        static func load(behind prefix: String) -> Step {
            Step { stage in try await stage.load(0, prefix + stage.fixture.typed(stage.show.entry)) }
        }

        /// Time passes, in which nothing is asked for.
        static func wait(_ seconds: Double) -> Step { Step { stage in await stage.wait(seconds) } }

        /// Fetches segments one after the other, each in so many seconds.
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

        /// Two players ask for the same segments at once, the second one for what is on its way to the first.
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

        /// Takes segments that are stored, one every so many seconds.
        static func take(
            _ numbers: ClosedRange<Int>, of rendition: String, every seconds: Double = 0, by player: Int = 0,
            tells data: String? = nil
        ) -> Step {
            Step { stage in
                for number in numbers {
                    try await stage.take(number, of: rendition, by: player, data.map { ["CMCD-Request": $0] } ?? [:])
                    if seconds > 0 { await stage.wait(seconds) }
                }
            }
        }

        /// Gets an initialization section at once.
        static func section(of rendition: String) -> Step {
            Step { stage in try await stage.take(nil, of: rendition) }
        }

        /// Asks for a part of a segment, or for its head alone.
        static func ask(
            _ number: Int, of rendition: String, _ method: String = "GET", range: String? = nil, status: Int
        ) -> Step {
            Step { stage in
                let fields = range.map { ["Range": $0] } ?? [:]
                try await stage.take(number, of: rendition, fields, method: method, status: status)
            }
        }

        /// Asks for a segment, which the origin refuses once.
        static func refused(_ number: Int, of rendition: String, origin: Int, status: Int) -> Step {
            Step { stage in
                try await stage.fixture.origin.add(
                    OriginRule(stage.show.path(number, of: rendition)) { ($0.status, $0.times) = (origin, 1) })
                try await stage.take(number, of: rendition, status: status)
            }
        }

        /// Asks for a segment, of which only the first bytes come before the origin fails.
        static func brokenOff(_ number: Int, of rendition: String, after bytes: Int) -> Step {
            Step { stage in
                let path = stage.show.path(number, of: rendition)
                try await stage.fixture.origin.add(
                    OriginRule(path) { ($0.cutAfter, $0.times) = (bytes, 1) },
                    OriginRule(path) { ($0.status, $0.times) = (404, 1) })
                try await stage.take(number, of: rendition, isComplete: false)
            }
        }

        /// Asks for a segment, and leaves after so many of its bytes and seconds.
        static func leave(_ number: Int, of rendition: String, after bytes: Int, in seconds: Double) -> Step {
            Step { stage in try await stage.leave(number, of: rendition, after: bytes, in: seconds) }
        }

        /// Sessions end that are idle.
        static let idle = Step { stage in stage.fixture.playback.sessions.endIdle() }

        /// Goes on under a session's id that nobody gave out.
        static func pretend(_ session: String) -> Step { Step { stage in try await stage.pretend(session, 0) } }
    }
}
