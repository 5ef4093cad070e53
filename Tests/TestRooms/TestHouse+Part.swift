import Assets
package import Downloads
import HTTPServer
import Orders
package import Origin
package import Store
package import TestSupport

extension TestHouse {
    /// A part of a house, or a setting of one.
    package struct Part: Sendable {
        fileprivate let apply: @Sendable (inout Plan) -> Void
    }

    /// The parts and settings of a house.
    struct Plan: Sendable {
        /// The folder that the origin serves; nil for the fixtures.
        var root: TemporaryFolder?
        /// Bytes that the store leaves free on its disk.
        var reserve: Int64 = 0
        var client = Self.impatientClient
        var mode = PlayMode.auto
        /// The limit of the play cache in bytes; nil for none.
        var cacheLimit: Int64?
        var purge = PurgePlan.Limit.expired
        /// The clock of all rooms; nil for the system's.
        var clock: TestClock?
        /// Nil for a house without downloads.
        var downloader: Downloader.Configuration?
        /// Nil for a house without a server for players.
        var playback: PlayerServer.Configuration?

        /// The limits of the product, with few and early retries. An origin that does not answer is looked at again only when it is
        /// needed.
        private static var impatientClient: OriginClient.Configuration {
            var configuration = OriginClient.Configuration()
            configuration.giveUpRule.retries.attempts = 2
            configuration.giveUpRule.retries.firstPause = .milliseconds(20)
            configuration.giveUpRule.retriesWhilePlayerWaits = configuration.giveUpRule.retries
            configuration.giveUpRule.absencePauses = .milliseconds(1)...(.milliseconds(1))
            configuration.giveUpRule.absenceInterest = .zero
            return configuration
        }

        func with(_ parts: [Part]) -> Plan {
            parts.reduce(into: self) { plan, part in part.apply(&plan) }
        }
    }
}

extension TestHouse.Part {
    /// The origin serves this folder in place of the fixtures.
    package static func origin(_ root: TemporaryFolder) -> Self {
        Self { $0.root = root }
    }

    /// Several parts as one.
    package static func all(_ parts: [Self]) -> Self {
        Self { plan in
            for part in parts {
                part.apply(&plan)
            }
        }
    }

    /// The store keeps as many bytes free on its disk; `.max` makes the disk full.
    package static func reserve(_ bytes: Int64) -> Self {
        Self { $0.reserve = bytes }
    }

    /// Other limits for requests to the origin.
    package static func giveUpRule(_ change: @escaping @Sendable (inout GiveUpRule) -> Void) -> Self {
        Self { change(&$0.client.giveUpRule) }
    }

    /// An origin that does not answer is presumed absent for this time, and is then looked at without being needed.
    package static func absence(_ pause: Duration) -> Self {
        giveUpRule { rule in
            rule.absencePauses = pause...pause
            rule.absenceInterest = GiveUpRule().absenceInterest
        }
    }

    /// The origin client trusts this one certificate alone, at this path, in place of those of the system.
    package static func authority(_ path: String) -> Self {
        Self { $0.client.authorities = path }
    }

    /// The library begins offline.
    package static var offline: Self {
        Self { $0.mode = .offline }
    }

    /// The play cache has this limit in bytes.
    package static func cacheLimit(_ bytes: Int64?) -> Self {
        Self { $0.cacheLimit = bytes }
    }

    /// Assets that may be purged for space.
    package static func purge(_ limit: PurgePlan.Limit) -> Self {
        Self { $0.purge = limit }
    }

    /// All rooms have this clock in place of the system's.
    package static func clock(_ clock: TestClock) -> Self {
        Self { $0.clock = clock }
    }

    /// A downloader with short pauses before its retries.
    package static func downloader(
        _ change: @escaping @Sendable (inout Downloader.Configuration) -> Void = { _ in }
    ) -> Self {
        Self { plan in
            var configuration = Downloader.Configuration()
            configuration.pauses = .milliseconds(20)...(.milliseconds(100))
            change(&configuration)
            plan.downloader = configuration
        }
    }

    /// A server for players on a port of its own.
    package static func playback(
        _ change: @escaping @Sendable (inout PlayerServer.Configuration) -> Void = { _ in }
    ) -> Self {
        Self { plan in
            var configuration = PlayerServer.Configuration()
            change(&configuration)
            plan.playback = configuration
        }
    }
}
