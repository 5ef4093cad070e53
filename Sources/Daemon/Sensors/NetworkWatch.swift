import EventLoop
internal import Glibc

/// Reports changes of the machine's network, as the kernel announces them (rtnetlink(7)): addresses that come and go, and
/// other default routes. Costs nothing while nothing changes.
@LoopActor final class NetworkWatch {
    private let descriptor: Int32
    private var watch: DescriptorWatch?
    private let changed: @LoopActor () -> Void

    /// Returns nil where the kernel has no such socket.
    init?(changed: @escaping @LoopActor () -> Void) {
        self.changed = changed
        descriptor = socket(Announcement.family, Int32(SOCK_RAW.rawValue) | Self.flags, Announcement.routing)
        guard descriptor >= 0 else { return nil }
        guard Self.subscribe(descriptor) else {
            close(descriptor)
            return nil
        }
        watch = DescriptorWatch(descriptor, for: .reading) { [weak self] _ in self?.read() }
    }

    isolated deinit {
        watch = nil
        close(descriptor)
    }

    private static let flags = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

    private static func subscribe(_ descriptor: Int32) -> Bool {
        // struct sockaddr_nl of linux/netlink.h: family, padding, port, groups.
        var address = (UInt16(Announcement.family), UInt16(0), UInt32(0), Announcement.groups)
        return withUnsafeBytes(of: &address) { raw in
            guard let base = raw.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
            return bind(descriptor, base, socklen_t(raw.count)) == 0
        }
    }

    private func read() {
        var isChange = false
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 {
                isChange = isChange || Announcement.showsChange(buffer[..<count])
            } else if count < 0, errno == ENOBUFS {
                // Some announcements are lost.
                isChange = true
            } else if count == 0 || errno != EINTR {
                break
            }
        }
        if isChange {
            changed()
        }
    }
}

/// The kernel's announcements (linux/rtnetlink.h). Pure.
enum Announcement {
    static let family: Int32 = 16
    static let routing: Int32 = 0
    /// IPv4 and IPv6 addresses, and IPv4 routes.
    static let groups: UInt32 = 0x10 | 0x100 | 0x40

    private static let newAddress: UInt16 = 20
    private static let lostAddress: UInt16 = 21
    private static let newRoute: UInt16 = 24
    private static let lostRoute: UInt16 = 25
    private static let headLength = 16
    /// Addresses of this scope and above are valid on one link only.
    private static let linkScope: UInt8 = 253
    private static let mainTable: UInt8 = 254

    /// True if one of the messages says that the machine may be in another network now.
    static func showsChange(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while rest.count >= headLength {
            let length = Int(word(rest, 0)) | Int(word(rest, 2)) << 16
            guard length >= headLength, length <= rest.count else { return false }
            let body = rest.dropFirst(headLength).prefix(length - headLength)
            if isChange(word(rest, 4), Array(body.prefix(8))) {
                return true
            }
            // Messages begin at multiples of four bytes.
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return false
    }

    private static func isChange(_ type: UInt16, _ body: [UInt8]) -> Bool {
        guard body.count == 8 else { return false }
        let isSix = Int32(body[0]) == AF_INET6
        switch type {
        // An IPv6 router announces the same addresses again and again.
        case newAddress: return !isSix && body[3] < linkScope
        case lostAddress: return body[3] < linkScope
        case newRoute, lostRoute: return !isSix && body[1] == 0 && body[4] == mainTable
        default: return false
        }
    }

    private static func word(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> UInt16 {
        let index = bytes.startIndex + offset
        return UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8
    }
}
