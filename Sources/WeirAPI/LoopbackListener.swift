import CLinux

/// Finds out whose program listens at an address of this machine.
package enum LoopbackListener {
    /// The number of the user who listens at a literal loopback address; nil if nobody does, or if the kernel does not report it.
    package static func user(at host: String, port: UInt16) -> UInt32? {
        UInt32(exactly: weir_literal_listener_user(host, port))
    }
}
