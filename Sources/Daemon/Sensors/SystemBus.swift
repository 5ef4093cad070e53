internal import Downloads
internal import Glibc
internal import HTTPServer

/// Asks services on the D-Bus system bus through the client of systemd's library, sd-bus(3); one connection for each question.
struct SystemBus {
    /// Where a service has a property.
    struct Property {
        /// D-Bus's name of a type that has 32 bits.
        enum Signature: CChar {
            case number = 117  // u
            case boolean = 98  // b
        }

        let service: String
        let path: String
        let interface: String
        let name: String
        let signature: Signature

        /// Indicates a network of which each byte may cost.
        static let metered = Property(
            service: "org.freedesktop.NetworkManager", path: "/org/freedesktop/NetworkManager",
            interface: "org.freedesktop.NetworkManager", name: "Metered", signature: .number)
        /// Indicates that no session of the machine is in use.
        static let idleHint = Property(
            service: "org.freedesktop.login1", path: "/org/freedesktop/login1",
            interface: "org.freedesktop.login1.Manager", name: "IdleHint", signature: .boolean)
    }

    /// One or more addresses of the bus, separated by `;`, tried in turn.
    private let address: String
    /// The longest wait for the bus, and then for the service. A rule can do without a fact; the other facts wait meanwhile.
    private let limit: Duration

    /// Takes the address of the environment's DBUS_SYSTEM_BUS_ADDRESS, else the standard one.
    init(environment: [String: String], limit: Duration = .seconds(2)) {
        let address = environment.value(ofVariable: "DBUS_SYSTEM_BUS_ADDRESS")
        self.address = address ?? "unix:path=/run/dbus/system_bus_socket;unix:path=/var/run/dbus/system_bus_socket"
        self.limit = limit
    }

    /// 0: unknown, 1: yes, 2: no, 3: probably yes, 4: probably no. A phone's hotspot is 3.
    func isMetered() -> Conditions.Reading<Bool> {
        switch value(of: .metered) {
        case 1, 3: .value(true)
        case 2, 4, 0: .value(false)
        default: .absent
        }
    }

    func isIdle() -> Conditions.Reading<Bool> {
        guard let value = value(of: .idleHint) else { return .absent }
        return .value(value != 0)
    }

    /// Keeps the machine awake: no program puts it to sleep by itself, as a desktop does after some idle minutes (logind's
    /// Manager.Inhibit). A lid that is closed still does, by logind's usual settings.
    /// - Parameter reason: for a person who lists the locks, or finds that the machine does not sleep.
    func keepAwake(_ reason: String) -> Result<SleepLock, BusFailure> {
        guard let library = BusLibrary.shared, let connection = library.connect(to: address, limit: limit) else {
            return .failure(.noBus)
        }
        defer { library.close(connection) }
        let lock = library.descriptor(
            of: .inhibit, ["sleep:idle", "Weir", reason, "block"].map(BusValue.text), on: connection, limit: limit)
        return lock.map(SleepLock.init)
    }

    /// The value of a property that is a number or a Boolean; nil if the bus or the service does not answer.
    private func value(of property: Property) -> UInt32? {
        guard let library = BusLibrary.shared, let connection = library.connect(to: address, limit: limit) else {
            return nil
        }
        defer { library.close(connection) }
        return library.value(of: property, on: connection)
    }
}

/// Keeps the machine awake as long as it exists.
final class SleepLock: Sendable {
    private let descriptor: OwnedDescriptor

    /// Takes ownership of a descriptor of logind's.
    fileprivate init(_ descriptor: Int32) { self.descriptor = OwnedDescriptor(descriptor) }
}

extension BusMember {
    /// Takes the kinds of locks, separated by colons, the program's name, the reason, and the strength. Returns a descriptor.
    fileprivate static let inhibit = BusMember(
        service: "org.freedesktop.login1", path: "/org/freedesktop/login1",
        interface: "org.freedesktop.login1.Manager", name: "Inhibit")
}
