internal import Control
internal import Glibc
package import WeirAPI

/// The port of a user who is not the first one of the machine: another user's Weir has the standard port. It is chosen once, and
/// remembered in the state folder, so that bookmarks and players keep their addresses.
package struct OwnPort {
    private static let file = "port"
    /// The ports from which one is chosen: behind the standard one, and below those that the kernel gives to clients.
    private static let choice = (ListenAddress.standardPort + 1)...(ListenAddress.standardPort + 100)

    private let state: StateDirectory

    package init(in state: StateDirectory) { self.state = state }

    /// The remembered port; nil for a user who has the standard one.
    var number: UInt16? {
        guard case .success(let text) = state.readFile(Self.file), let port = UInt16(text), port > 0 else { return nil }
        return port
    }

    /// True if another user's program listens at an address.
    static func isTaken(_ address: ListenAddress) -> Bool {
        guard let user = LoopbackListener.user(at: address.host, port: address.port) else { return false }
        return user != geteuid()
    }

    /// Chooses a port that nobody listens at, and remembers it. Returns its addresses; nil if none is free.
    func choose() throws(APIError) -> [ListenAddress]? {
        for port in Self.choice {
            let addresses = ListenAddress.all(port: port)
            let isFree = addresses.allSatisfy { address in
                [0, EADDRNOTAVAIL, EAFNOSUPPORT].contains(Doctor.bindingError(address))
            }
            guard isFree else { continue }
            try state.writeFile(Self.file, "\(port)")
            return addresses
        }
        return nil
    }

    /// The lines of systemd's socket unit for the addresses of a user: a drop-in that replaces those of the package; nil if they
    /// are the same. Chooses a port where another user has the standard one.
    package func socketUnit(for configuration: Configuration) throws(APIError) -> String? {
        var addresses = configuration.listen
        if configuration.listenIsDefault, let first = addresses.first, Self.isTaken(first) {
            try state.create()
            guard let own = try choose() else { return nil }
            addresses = own
        }
        guard addresses != ListenAddress.standard, !addresses.contains(where: { $0.port == 0 }) else { return nil }
        let lines = addresses.map { "ListenStream=\($0)" }
        return (["[Socket]", "ListenStream="] + lines).joined(separator: "\n") + "\n"
    }
}
