/// The limits of an attempt before its reply begins: each stage has one of its own.
extension GiveUpRule {
    /// A part of an attempt, in order.
    enum Stage: Hashable, CaseIterable {
        /// The host's name is being resolved.
        case resolving
        /// TCP is connecting to one of the addresses.
        case connecting
        /// TCP is connected, and TLS or a proxy is not; or the request waits for the connection of another one.
        case handshaking
        /// The request is sent, and the peer's system has not received all of it.
        case sending
        /// The origin has the request, and takes its time.
        case waiting

        /// True if the time of the origin is measured, not that of the network.
        var isSilence: Bool { self == .sending || self == .waiting }
    }

    /// The reason why another connection may answer sooner.
    enum Doubt: Hashable {
        /// The host has another address, which has not failed.
        case otherAddress
        /// The connection was opened for an earlier request, and the origin is not known to be slow. After a change of
        /// networks nothing reports that such a connection is dead, and something on the way may still acknowledge bytes.
        case usedConnection
    }

    func limit(of stage: Stage) -> Duration {
        switch stage {
        case .resolving: resolveLimit
        case .connecting: connectLimit
        case .handshaking: handshakeLimit
        case .sending: min(unacknowledgedLimit, firstByteLimit)
        case .waiting: firstByteLimit
        }
    }

    /// The first moment at which a limit may have passed, whatever the stage is by then.
    var firstCheck: Duration {
        let stages: [Stage] = [.connecting, .handshaking, .sending, .waiting]
        return min(stages.map(limit).min() ?? .zero, otherAddressLimit)
    }

    /// Follows an attempt from its first connection to its reply's head. Pure.
    struct HeadWatch: Equatable {
        private(set) var stage: Stage
        /// The start of the stage, or the latest progress in it. Sending and waiting share one start.
        private var since: ContinuousClock.Instant
        private var sent: Int64 = 0

        init(_ stage: Stage, now: ContinuousClock.Instant) {
            self.stage = stage
            since = now
        }

        /// Records what is observed at a check.
        /// - Parameters:
        ///   - readyAt: the start of sending; nil before it.
        ///   - sent: body bytes that the peer has received. No reply can arrive while there are more.
        mutating func record(
            _ stage: Stage, readyAt: ContinuousClock.Instant?, sent: Int64, now: ContinuousClock.Instant
        ) {
            if !stage.isSilence {
                if stage != self.stage {
                    since = now
                }
            } else if sent > self.sent {
                since = now
            } else if !self.stage.isSilence {
                since = readyAt ?? now
            }
            self.stage = stage
            self.sent = max(sent, self.sent)
        }

        /// The time until the stage's limit; nil if it has passed. A silence of which another connection may be the cure is
        /// shorter.
        func left(_ rule: GiveUpRule, doubt: Doubt?, now: ContinuousClock.Instant) -> Duration? {
            var limit = rule.limit(of: stage)
            if stage == .waiting {
                switch doubt {
                case .otherAddress: limit = min(limit, rule.otherAddressLimit)
                case .usedConnection: limit = min(limit, rule.unacknowledgedLimit)
                case nil: break
                }
            }
            let left = limit - (now - since)
            guard left > .zero else { return nil }
            return left
        }
    }
}
