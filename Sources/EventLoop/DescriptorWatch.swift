import CLibevent

/// Reports when a descriptor is readable or writable (level-triggered).
///
/// Borrows the descriptor: drop the watch before you close it. The closure is retained until then: capture its owner
/// weakly.
public struct DescriptorWatch: ~Copyable {
    /// Readiness that a watch waits for or reports.
    public struct Interest: OptionSet, Sendable {
        /// The bits; meaningless outside this type.
        public let rawValue: Int16
        /// Creates a set from its bits.
        public init(rawValue: Int16) { self.rawValue = rawValue }
        /// Data, an end of file or an error can be read.
        public static let reading = Interest(rawValue: 2)
        /// Bytes can be written.
        public static let writing = Interest(rawValue: 4)
    }

    private let event: LoopEvent

    /// Starts to watch; dropping the watch stops it.
    @LoopActor public init(
        _ descriptor: Int32, for interest: Interest, ready: @escaping @LoopActor (Interest) -> Void
    ) {
        event = LoopEvent(descriptor: descriptor, flags: interest.rawValue | weir_ev_persist) { what in
            ready(Interest(rawValue: what).intersection([.reading, .writing]))
        }
        event.add()
    }
}
