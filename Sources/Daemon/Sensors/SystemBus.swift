internal import Downloads
internal import Glibc

/// Reads properties of services on the D-Bus system bus (D-Bus Specification 0.41), one connection for each reading.
struct SystemBus {
    /// Where a service has a property.
    struct Property {
        let service: String
        let path: String
        let interface: String
        let name: String

        /// Indicates a network of which each byte may cost.
        static let metered = Property(
            service: "org.freedesktop.NetworkManager", path: "/org/freedesktop/NetworkManager",
            interface: "org.freedesktop.NetworkManager", name: "Metered")
        /// Indicates that no session of the machine is in use.
        static let idleHint = Property(
            service: "org.freedesktop.login1", path: "/org/freedesktop/login1",
            interface: "org.freedesktop.login1.Manager", name: "IdleHint")
    }

    /// Paths of the bus's Unix socket, tried in turn.
    private let paths: [String]
    private static let limit = timeval(tv_sec: 2, tv_usec: 0)

    /// Takes the address of the environment's DBUS_SYSTEM_BUS_ADDRESS, else the standard one.
    init(environment: [String: String]) {
        let address = environment["DBUS_SYSTEM_BUS_ADDRESS"].flatMap { $0.isEmpty ? nil : $0 }
        paths = Self.paths(address ?? "unix:path=/run/dbus/system_bus_socket;unix:path=/var/run/dbus/system_bus_socket")
    }

    /// The paths in an address such as `unix:path=/run/bus,guid=…;unix:path=…`. Other transports are left out.
    static func paths(_ address: String) -> [String] {
        address.split(separator: ";").compactMap { entry in
            guard entry.hasPrefix("unix:") else { return nil }
            let path = entry.dropFirst(5).split(separator: ",").first { $0.hasPrefix("path=") }
            return path.map { String($0.dropFirst(5)) }
        }
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
        value(of: .idleHint).map { Conditions.Reading<Bool>.value($0 != 0) } ?? .absent
    }

    /// The value of a property that is a number or a Boolean; nil if the bus or the service does not answer.
    private func value(of property: Property) -> UInt32? { reply(to: property)?.number }

    /// The bus's answer to a request for a property; nil without a bus. Waits for at most a few seconds.
    func reply(to property: Property) -> BusMessage? {
        for path in paths {
            guard let socket = BusSocket(path: path, limit: Self.limit) else { continue }
            defer { socket.close() }
            guard socket.authenticate(),
                socket.send(BusMessage.hello(serial: 1)), socket.send(BusMessage.get(property, serial: 2))
            else { return nil }
            // The bus sends its own signals in between.
            for _ in 0..<16 {
                guard let reply = socket.message() else { return nil }
                if reply.answers(2) {
                    return reply
                }
            }
            return nil
        }
        return nil
    }
}

/// A connection to a bus.
private struct BusSocket {
    private let descriptor: Int32
    private static let largest = 64 << 10

    init?(path: String, limit: timeval) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var limit = limit
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isConnected else {
            Glibc.close(descriptor)
            return nil
        }
    }

    func close() { Glibc.close(descriptor) }

    /// Authenticates by the user of the socket, whose number is sent in hexadecimal.
    func authenticate() -> Bool {
        let user = "\(getuid())".utf8.map { String($0, radix: 16) }.joined()
        guard send([0] + Array("AUTH EXTERNAL \(user)\r\n".utf8)), let answer = line(), answer.hasPrefix("OK ") else {
            return false
        }
        return send(Array("BEGIN\r\n".utf8))
    }

    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Reads the next message; nil if there is none in time, or none in this machine's byte order.
    func message() -> BusMessage? {
        guard let head = read(16), head[0] == BusMessage.littleEndian else { return nil }
        let body = Int(BusMessage.number(head, 4))
        let fields = (Int(BusMessage.number(head, 12)) + 7) & ~7
        guard body <= Self.largest, fields <= Self.largest, let rest = read(fields + body) else { return nil }
        return BusMessage(
            kind: head[1], fields: Array(rest.prefix(Int(BusMessage.number(head, 12)))),
            body: Array(rest.dropFirst(fields)))
    }

    private func line() -> String? {
        var line: [UInt8] = []
        while line.count < 512, let byte = read(1)?.first {
            if byte == 10 {
                return String(decoding: line.filter { $0 != 13 }, as: UTF8.self)
            }
            line.append(byte)
        }
        return nil
    }

    private func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var received = 0
        while received < count {
            let result = bytes[received...].withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            guard result > 0 else { return nil }
            received += result
        }
        return bytes
    }
}

/// A message of D-Bus, little-endian. Pure.
struct BusMessage {
    static let littleEndian = UInt8(ascii: "l")
    let kind: UInt8
    /// The header fields: pairs of a code and a variant, each aligned to 8 bytes.
    let fields: [UInt8]
    let body: [UInt8]

    /// The first call of a connection, which gives it a name.
    static func hello(serial: UInt32) -> [UInt8] {
        let call = Call(
            member: "Hello", service: "org.freedesktop.DBus", path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus")
        return call.bytes(serial: serial)
    }

    /// A call of `org.freedesktop.DBus.Properties.Get`.
    static func get(_ property: SystemBus.Property, serial: UInt32) -> [UInt8] {
        var body: [UInt8] = []
        append(string: property.interface, to: &body)
        append(string: property.name, to: &body)
        let call = Call(
            member: "Get", service: property.service, path: property.path, interface: "org.freedesktop.DBus.Properties",
            signature: "ss", body: body)
        return call.bytes(serial: serial)
    }

    private struct Call {
        let member: String
        let service: String
        let path: String
        let interface: String
        var signature: String?
        var body: [UInt8] = []

        func bytes(serial: UInt32) -> [UInt8] {
            var fields: [UInt8] = []
            let object = UInt8(ascii: "o")
            let string = UInt8(ascii: "s")
            let texts: [(code: UInt8, type: UInt8, text: String)] = [
                (1, object, path), (2, string, interface), (3, string, member), (6, string, service),
            ]
            for (code, type, text) in texts {
                BusMessage.pad(&fields, to: 8)
                fields += [code, 1, type, 0]
                BusMessage.append(string: text, to: &fields)
            }
            if let signature {
                BusMessage.pad(&fields, to: 8)
                fields += [8, 1, UInt8(ascii: "g"), 0, UInt8(signature.utf8.count)]
                fields += Array(signature.utf8) + [0]
            }
            // 1: a call; no flags; version 1 of the protocol.
            var message: [UInt8] = [littleEndian, 1, 0, 1]
            BusMessage.append(number: UInt32(body.count), to: &message)
            BusMessage.append(number: serial, to: &message)
            BusMessage.append(number: UInt32(fields.count), to: &message)
            message += fields
            BusMessage.pad(&message, to: 8)
            return message + body
        }
    }

    /// True if it is the return or the error of the call with a serial.
    func answers(_ serial: UInt32) -> Bool {
        guard kind == 2 || kind == 3 else { return false }
        var place = 0
        while place + 8 <= fields.count {
            let code = fields[place]
            let length = Int(fields[place + 1])
            // The signature of a variant, its zero, and the value at its alignment.
            guard place + 2 + length < fields.count else { return false }
            let type = fields[place + 2]
            var value = place + 3 + length
            if type == UInt8(ascii: "g") {
                guard value < fields.count else { return false }
                value += 2 + Int(fields[value])
            } else {
                value = (value + 3) & ~3
                guard value + 4 <= fields.count else { return false }
                if code == 5 {
                    return Self.number(fields, value) == serial
                }
                let isText = type == UInt8(ascii: "s") || type == UInt8(ascii: "o")
                value += 4 + (isText ? Int(Self.number(fields, value)) + 1 : 0)
            }
            place = (value + 7) & ~7
        }
        return false
    }

    /// The number or Boolean in the variant of a return; nil for an error, and for other types.
    var number: UInt32? {
        guard kind == 2, body.count >= 8, body[0] == 1, body[1] == UInt8(ascii: "u") || body[1] == UInt8(ascii: "b")
        else { return nil }
        return Self.number(body, 4)
    }

    static func number(_ bytes: [UInt8], _ place: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) }
    }

    private static func append(number: UInt32, to bytes: inout [UInt8]) {
        for shift in stride(from: UInt32(0), to: 32, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    private static func append(string: String, to bytes: inout [UInt8]) {
        pad(&bytes, to: 4)
        append(number: UInt32(string.utf8.count), to: &bytes)
        bytes += Array(string.utf8) + [0]
    }

    private static func pad(_ bytes: inout [UInt8], to size: Int) {
        while bytes.count % size != 0 {
            bytes.append(0)
        }
    }
}
