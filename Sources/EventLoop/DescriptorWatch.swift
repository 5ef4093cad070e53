import CLibevent

/// Tells when a descriptor can be read or written (level-triggered).
///
/// Borrows the descriptor: drop the watch before closing it. The closure is kept until then: capture its owner weakly.
public struct DescriptorWatch: ~Copyable {
    /// What a descriptor is watched for, or is ready for.
    public struct Interest: OptionSet, Sendable {
        /// The bits, of no meaning outside of this type.
        public let rawValue: Int16
        /// Makes a set of its bits.
        public init(rawValue: Int16) { self.rawValue = rawValue }
        /// Data, an end of file or an error can be read.
        public static let reading = Interest(rawValue: 2)
        /// Bytes can be written.
        public static let writing = Interest(rawValue: 4)
    }

    private let event: LoopEvent

    /// Watches from now on, until dropped.
    @LoopActor public init(
        _ descriptor: Int32, for interest: Interest, ready: @escaping @LoopActor (Interest) -> Void
    ) {
        event = LoopEvent(descriptor: descriptor, flags: interest.rawValue | weir_ev_persist) { what in
            ready(Interest(rawValue: what).intersection([.reading, .writing]))
        }
        event.add()
    }
}
