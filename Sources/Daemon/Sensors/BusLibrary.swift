internal import Glibc

/// A method or a property of a service.
struct BusMember {
    let service: String
    let path: String
    let interface: String
    let name: String
}

/// A value that is sent to a service.
indirect enum BusValue {
    case text(String)
    case truth(Bool)
    case number(UInt64)
    case structure([BusValue])
    /// Values of one type, which is given by D-Bus's name.
    case list([BusValue], of: String)
    case variant(BusValue)

    /// A pair of a name and a value of any type.
    static func property(_ name: String, _ value: BusValue) -> BusValue { .structure([.text(name), .variant(value)]) }

    /// D-Bus's letter of its type.
    fileprivate var type: CChar {
        let letter: Unicode.Scalar
        switch self {
        case .text: letter = "s"
        case .truth: letter = "b"
        case .number: letter = "t"
        case .structure: letter = "r"
        case .list: letter = "a"
        case .variant: letter = "v"
        }
        return CChar(letter.value)
    }

    /// D-Bus's name of the type of what is in it; empty for a plain value.
    fileprivate var contents: String {
        switch self {
        case .text, .truth, .number: ""
        case .structure(let members): members.map(\.signature).joined()
        case .list(_, let type): type
        case .variant(let value): value.signature
        }
    }

    /// D-Bus's name of its type.
    private var signature: String {
        switch self {
        case .text, .truth, .number, .variant: String(Unicode.Scalar(UInt8(type)))
        case .structure: "(\(contents))"
        case .list: "a\(contents)"
        }
    }
}

/// The reason why a service of the bus did nothing.
enum BusFailure: Error, Equatable, CustomStringConvertible {
    /// There is no bus, or none that answers.
    case noBus
    /// The bus, or the service, has refused the call; the number is one of errno(3).
    case refused(Int32)
    /// A unit that wakes the machine was not begun: the manager has no right to, or the machine no clock that could.
    case cannotWake

    var description: String {
        switch self {
        case .noBus: "there is no system bus"
        case .refused(let number): String(cString: strerror(number))
        case .cannotWake:
            "it may not wake the machine (CAP_WAKE_ALARM), or the machine has no clock that can; see the guide, "
                + "Recording and live"
        }
    }
}

/// The functions of sd-bus that are needed here.
///
/// The library is opened when a property is read for the first time, because few users have a rule that needs one, and because a
/// machine without systemd has no such facts. All functions return a negative number, an error of errno(3), if they fail.
struct BusLibrary {
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

    private typealias GetText =
        @convention(c) (
            Connection, Text, Text, Text, Text, UnsafeMutableRawPointer?,
            UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
        ) -> CInt

    private typealias Message = OpaquePointer
    private typealias NewCall =
        @convention(c) (Connection, UnsafeMutablePointer<Message?>, Text, Text, Text, Text) -> CInt
    private typealias Append = @convention(c) (Message, CChar, UnsafeRawPointer) -> CInt
    private typealias Open = @convention(c) (Message, CChar, Text) -> CInt
    private typealias Shut = @convention(c) (Message) -> CInt
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
    private let getText: GetText
    private let closeAndFree: Close
    private let newCall: NewCall
    private let append: Append
    private let openContainer: Open
    private let closeContainer: Shut
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
            let getText = function("sd_bus_get_property_string", as: GetText.self),
            let closeAndFree = function("sd_bus_close_unref", as: Close.self),
            let newCall = function("sd_bus_message_new_method_call", as: NewCall.self),
            let append = function("sd_bus_message_append_basic", as: Append.self),
            let openContainer = function("sd_bus_message_open_container", as: Open.self),
            let closeContainer = function("sd_bus_message_close_container", as: Shut.self),
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
        self.getText = getText
        self.closeAndFree = closeAndFree
        self.newCall = newCall
        self.append = append
        self.openContainer = openContainer
        self.closeContainer = closeContainer
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

    /// The value of a property that is a text; nil if the service has none, or does not answer in time.
    func text(of property: BusMember, on connection: Connection) -> String? {
        var value: UnsafeMutablePointer<CChar>?
        let result = getText(
            connection, property.service, property.path, property.interface, property.name, nil, &value)
        guard result >= 0, let value else { return nil }
        defer { Glibc.free(value) }
        return String(cString: value)
    }

    /// Calls a method whose answer has nothing of interest.
    func perform(
        _ method: BusMember, _ values: [BusValue], on connection: Connection, limit: Duration
    ) -> Result<Void, BusFailure> {
        answer(of: method, values, on: connection, limit: limit).map { _ = free($0) }
    }

    /// D-Bus's name of the type of a descriptor: h.
    private static let descriptor: CChar = 104

    /// Calls a method. The caller owns the descriptor that it returns.
    func descriptor(
        of method: BusMember, _ values: [BusValue], on connection: Connection, limit: Duration
    ) -> Result<Int32, BusFailure> {
        let answer: Message
        switch self.answer(of: method, values, on: connection, limit: limit) {
        case .success(let message): answer = message
        case .failure(let failure): return .failure(failure)
        }
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

    /// Calls a method. The caller frees the answer.
    private func answer(
        of method: BusMember, _ values: [BusValue], on connection: Connection, limit: Duration
    ) -> Result<Message, BusFailure> {
        var made: Message?
        let result = newCall(connection, &made, method.service, method.path, method.interface, method.name)
        guard result >= 0, let message = made else { return .failure(.refused(-result)) }
        defer { _ = free(message) }
        for value in values {
            let result = append(value, to: message)
            guard result >= 0 else { return .failure(.refused(-result)) }
        }
        var answer: Message?
        let called = call(connection, message, limit.microseconds, nil, &answer)
        guard called >= 0, let answer else { return .failure(.refused(-called)) }
        return .success(answer)
    }

    /// Returns a negative number of errno(3) if it fails.
    private func append(_ value: BusValue, to message: Message) -> CInt {
        switch value {
        case .text(let text): return append(message, value.type, text)
        case .truth(let isTrue):
            var number: CInt = isTrue ? 1 : 0
            return append(message, value.type, &number)
        case .number(var number): return append(message, value.type, &number)
        case .structure(let members), .list(let members, _): return append(members, in: value, to: message)
        case .variant(let content): return append([content], in: value, to: message)
        }
    }

    private func append(_ members: [BusValue], in container: BusValue, to message: Message) -> CInt {
        let opened = openContainer(message, container.type, container.contents)
        guard opened >= 0 else { return opened }
        for member in members {
            let appended = append(member, to: message)
            guard appended >= 0 else { return appended }
        }
        return closeContainer(message)
    }

    func close(_ connection: Connection) { _ = closeAndFree(connection) }
}

extension Duration {
    /// Whole microseconds, the unit of sd-bus.
    fileprivate var microseconds: UInt64 { UInt64(max(0, self / .microseconds(1))) }
}
