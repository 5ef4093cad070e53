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

    /// A function of a service that takes texts and returns a descriptor.
    struct Method {
        let service: String
        let path: String
        let interface: String
        let name: String

        /// Takes the kinds of locks, separated by colons, the program's name, the reason, and the strength.
        static let inhibit = Method(
            service: "org.freedesktop.login1", path: "/org/freedesktop/login1",
            interface: "org.freedesktop.login1.Manager", name: "Inhibit")
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
            of: .inhibit, ["sleep:idle", "Weir", reason, "block"], on: connection, limit: limit)
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

/// The reason why a service of the bus did nothing.
enum BusFailure: Error, Equatable, CustomStringConvertible {
    /// There is no bus, or none that answers.
    case noBus
    /// The bus, or the service, has refused the call; the number is one of errno(3).
    case refused(Int32)

    var description: String {
        switch self {
        case .noBus: "there is no system bus"
        case .refused(let number): String(cString: strerror(number))
        }
    }
}

/// The functions of sd-bus that are needed here.
///
/// The library is opened when a property is read for the first time, because few users have a rule that needs one, and because a
/// machine without systemd has no such facts. All functions return a negative number, an error of errno(3), if they fail.
private struct BusLibrary {
    typealias Connection = OpaquePointer
    private typealias Text = UnsafePointer<CChar>
    private typealias Create = @convention(c) (UnsafeMutablePointer<Connection?>) -> CInt
    private typealias SetAddress = @convention(c) (Connection, Text) -> CInt
    private typealias SetFlag = @convention(c) (Connection, CInt) -> CInt
    private typealias SetMicroseconds = @convention(c) (Connection, UInt64) -> CInt
    private typealias Work = @convention(c) (Connection) -> CInt
    private typealias Process = @convention(c) (Connection, UnsafeMutableRawPointer?) -> CInt
    private typealias Close = @convention(c) (Connection) -> Connection?
    private typealias GetProperty =
        @convention(c) (
            Connection, Text, Text, Text, Text, UnsafeMutableRawPointer?, CChar, UnsafeMutableRawPointer
        ) -> CInt

    private typealias Message = OpaquePointer
    private typealias NewCall =
        @convention(c) (Connection, UnsafeMutablePointer<Message?>, Text, Text, Text, Text) -> CInt
    private typealias Append = @convention(c) (Message, CChar, UnsafeRawPointer) -> CInt
    private typealias Call =
        @convention(c) (Connection, Message, UInt64, UnsafeMutableRawPointer?, UnsafeMutablePointer<Message?>) -> CInt
    private typealias Read = @convention(c) (Message, CChar, UnsafeMutableRawPointer) -> CInt
    private typealias Free = @convention(c) (Message) -> Message?

    private let create: Create
    private let setAddress: SetAddress
    private let setIsBus: SetFlag
    private let setCallLimit: SetMicroseconds
    private let start: Work
    private let isReady: Work
    private let process: Process
    private let wait: SetMicroseconds
    private let getProperty: GetProperty
    private let closeAndFree: Close
    private let newCall: NewCall
    private let append: Append
    private let call: Call
    private let read: Read
    private let free: Free

    /// Nil on a machine without the library.
    static let shared = BusLibrary()

    private init?() {
        guard let library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL) else { return nil }
        func function<F>(_ name: String, as type: F.Type) -> F? {
            dlsym(library, name).map { unsafeBitCast($0, to: type) }
        }
        guard let create = function("sd_bus_new", as: Create.self),
            let setAddress = function("sd_bus_set_address", as: SetAddress.self),
            let setIsBus = function("sd_bus_set_bus_client", as: SetFlag.self),
            let setCallLimit = function("sd_bus_set_method_call_timeout", as: SetMicroseconds.self),
            let start = function("sd_bus_start", as: Work.self),
            let isReady = function("sd_bus_is_ready", as: Work.self),
            let process = function("sd_bus_process", as: Process.self),
            let wait = function("sd_bus_wait", as: SetMicroseconds.self),
            let getProperty = function("sd_bus_get_property_trivial", as: GetProperty.self),
            let closeAndFree = function("sd_bus_close_unref", as: Close.self),
            let newCall = function("sd_bus_message_new_method_call", as: NewCall.self),
            let append = function("sd_bus_message_append_basic", as: Append.self),
            let call = function("sd_bus_call", as: Call.self),
            let read = function("sd_bus_message_read_basic", as: Read.self),
            let free = function("sd_bus_message_unref", as: Free.self)
        else {
            dlclose(library)
            return nil
        }
        self.create = create
        self.setAddress = setAddress
        self.setIsBus = setIsBus
        self.setCallLimit = setCallLimit
        self.start = start
        self.isReady = isReady
        self.process = process
        self.wait = wait
        self.getProperty = getProperty
        self.closeAndFree = closeAndFree
        self.newCall = newCall
        self.append = append
        self.call = call
        self.read = read
        self.free = free
    }

    /// A connection to a bus that has answered; nil if there is none within the limit.
    func connect(to address: String, limit: Duration) -> Connection? {
        var created: Connection?
        guard create(&created) >= 0, let connection = created else { return nil }
        let isStarted =
            setAddress(connection, address) >= 0
            && setIsBus(connection, 1) >= 0
            && setCallLimit(connection, limit.microseconds) >= 0
            && start(connection) >= 0
        guard isStarted, becomesReady(connection, within: limit) else {
            close(connection)
            return nil
        }
        return connection
    }

    /// Waits until the bus has accepted the connection. sd-bus itself waits for 90 s.
    private func becomesReady(_ connection: Connection, within limit: Duration) -> Bool {
        let end = ContinuousClock.now + limit
        while isReady(connection) == 0 {
            let progress = process(connection, nil)
            guard progress >= 0 else { return false }
            if progress == 0 {
                let rest = ContinuousClock.now.duration(to: end)
                guard rest > .zero, wait(connection, rest.microseconds) >= 0 else { return false }
            }
        }
        return isReady(connection) > 0
    }

    /// The value of a property; nil if the service has none, or does not answer in time.
    func value(of property: SystemBus.Property, on connection: Connection) -> UInt32? {
        var value: UInt32 = 0
        let result = getProperty(
            connection, property.service, property.path, property.interface, property.name, nil,
            property.signature.rawValue,
            &value)
        guard result >= 0 else { return nil }
        return value
    }

    /// D-Bus's names of types: s and h.
    private static let text: CChar = 115
    private static let descriptor: CChar = 104

    /// Calls a method. The caller owns the descriptor that it returns.
    func descriptor(
        of method: SystemBus.Method, _ texts: [String], on connection: Connection, limit: Duration
    ) -> Result<Int32, BusFailure> {
        var made: Message?
        let result = newCall(connection, &made, method.service, method.path, method.interface, method.name)
        guard result >= 0, let message = made else { return .failure(.refused(-result)) }
        defer { _ = free(message) }
        for text in texts {
            let result = append(message, Self.text, text)
            guard result >= 0 else { return .failure(.refused(-result)) }
        }

        var answer: Message?
        let called = call(connection, message, limit.microseconds, nil, &answer)
        guard called >= 0, let answer else { return .failure(.refused(-called)) }
        defer { _ = free(answer) }
        var borrowed: Int32 = -1
        let found = read(answer, Self.descriptor, &borrowed)
        guard found >= 0 else { return .failure(.refused(-found)) }
        guard found > 0 else { return .failure(.refused(EBADMSG)) }
        // The message closes its own.
        let owned = fcntl(borrowed, F_DUPFD_CLOEXEC, 3)
        guard owned >= 0 else { return .failure(.refused(errno)) }
        return .success(owned)
    }

    func close(_ connection: Connection) { _ = closeAndFree(connection) }
}

extension Duration {
    /// Whole microseconds, the unit of sd-bus.
    fileprivate var microseconds: UInt64 { UInt64(max(0, self / .microseconds(1))) }
}
