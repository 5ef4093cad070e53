internal import Glibc

/// The service manager of the user, systemd --user, on the user's own bus. Its functions block.
struct UserManager {
    /// One or more addresses of the bus, separated by `;`.
    private let address: String
    /// The longest wait for the bus, and then for the manager.
    private let limit: Duration

    /// Takes the address of the environment's DBUS_SESSION_BUS_ADDRESS, else the standard one.
    init(environment: [String: String], limit: Duration = .seconds(2)) {
        let folder = environment.value(ofVariable: "XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())"
        address = environment.value(ofVariable: "DBUS_SESSION_BUS_ADDRESS") ?? "unix:path=\(folder)/bus"
        self.limit = limit
    }

    /// The name says the time, so that a timer of an earlier process is found again.
    private static func name(_ time: Int64) -> String { "weir-wake-\(time)" }

    /// Sets a timer that wakes the machine, and does nothing else.
    /// - Parameter time: in seconds since 1970.
    func setTimer(wakingAt time: Int64) -> Result<Void, BusFailure> {
        guard let library = BusLibrary.shared, let connection = library.connect(to: address, limit: limit) else {
            return .failure(.noBus)
        }
        defer { library.close(connection) }
        let order = Self.order(time)
        let called = library.perform(Self.method("StartTransientUnit"), order, on: connection, limit: limit)
        // It answers before it has begun with the unit.
        let unit = "\(Self.name(time)).timer"
        for _ in 0..<Self.looks {
            switch library.text(of: Self.state(of: unit), on: connection) {
            case "active":
                // Perhaps that of an earlier process, for which the call was refused.
                return .success(())
            case "failed":
                _ = library.perform(Self.method("ResetFailedUnit"), [.text(unit)], on: connection, limit: limit)
                return .failure(.cannotWake)
            default:
                guard case .success = called else { return called }
                // This thread is not the loop's, and the manager sends no answer to wait for.
                usleep(Self.pause)
            }
        }
        return .failure(.refused(ETIMEDOUT))
    }

    /// The arguments of StartTransientUnit.
    private static func order(_ time: Int64) -> [BusValue] {
        let name = name(time)
        let instant: BusValue = .structure([.text("OnCalendar"), .text("@\(time)")])
        let timer: [BusValue] = [
            .property("Description", .text("Wakes the machine for a recording of Weir")),
            .property("TimersCalendar", .list([instant], of: "(ss)")),
            .property("WakeSystem", .truth(true)),
            .property("RemainAfterElapse", .truth(false)),
            .property("AccuracyUSec", .number(1_000_000)),
        ]
        // A timer needs a service to start.
        let program: BusValue = .structure([.text("/bin/true"), .list([.text("true")], of: "s"), .truth(false)])
        let properties: [BusValue] = [.property("ExecStart", .list([program], of: "(sasb)"))]
        let service: BusValue = .structure([.text("\(name).service"), .list(properties, of: "(sv)")])
        return [
            .text("\(name).timer"), .text("replace"), .list(timer, of: "(sv)"),
            .list([service], of: "(sa(sv))"),
        ]
    }

    func removeTimer(wakingAt time: Int64) {
        guard let library = BusLibrary.shared, let connection = library.connect(to: address, limit: limit) else {
            return
        }
        defer { library.close(connection) }
        let unit = "\(Self.name(time)).timer"
        _ = library.perform(
            Self.method("StopUnit"), [.text(unit), .text("replace")], on: connection, limit: limit)
    }

    /// Two seconds.
    private static let looks = 100
    private static let pause: UInt32 = 20_000

    private static let service = "org.freedesktop.systemd1"

    private static func method(_ name: String) -> BusMember {
        BusMember(
            service: service, path: "/org/freedesktop/systemd1", interface: "\(service).Manager", name: name)
    }

    private static func state(of unit: String) -> BusMember {
        BusMember(
            service: service, path: "/org/freedesktop/systemd1/unit/\(label(unit))", interface: "\(service).Unit",
            name: "ActiveState")
    }

    /// The name of a unit as a part of a path: other bytes than letters and digits are hexadecimal (sd_bus_path_encode(3)).
    static func label(_ unit: String) -> String {
        unit.utf8.map { byte -> String in
            let character = Character(UnicodeScalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber {
                return String(character)
            }
            let digits = String(byte, radix: 16)
            return byte < 16 ? "_0\(digits)" : "_\(digits)"
        }.joined()
    }
}
