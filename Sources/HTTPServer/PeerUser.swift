import CLinux
import Glibc
public import HTTPMessage

/// The user whose process holds the other end of a connection, as the system reports it once, when the connection is accepted.
enum PeerUser: Hashable, Sendable {
    case known(UInt32)
    /// No process of this machine holds the other end, or no longer.
    case gone
    /// The system cannot be asked, or was not.
    case unknown

    /// Asks for the peer of an accepted connection. Costs two system calls, about 7 µs.
    init(of descriptor: Int32, isUnix: Bool) {
        let user = isUnix ? weir_unix_peer_user(descriptor) : weir_peer_user(descriptor)
        guard let number = UInt32(exactly: user) else {
            self = .gone
            return
        }
        self = .known(number)
    }

    /// True if the system can be asked for the peers of a listening socket: it is one of this machine, and the system reports
    /// its own user. Not so for a kernel without sock_diag, and for a socket of another network namespace.
    static func areKnown(at address: SocketAddress) -> Bool {
        if address.isUnix {
            return true
        }
        return address.isLoopback && address.withSockaddr { own, _ in weir_socket_user(own, nil) } >= 0
    }
}

/// The users who count as the daemon's owner: its own user, root, and those of the configuration.
public struct OwnerRule: Sendable, Equatable {
    /// The numbers of further users.
    public var users: Set<UInt32>
    private let own = geteuid()

    /// Creates a rule with further users.
    public init(users: Set<UInt32> = []) { self.users = users }

    /// True if the system reports whose process holds a connection of this machine. Opens a socket to find out.
    public static var isEnforceable: Bool { weir_knows_socket_users() != 0 }

    func includes(_ user: UInt32) -> Bool { user == own || user == 0 || users.contains(user) }
}

/// The relation of a connection's user to the daemon's.
enum Ownership: Equatable, Sendable {
    case owner
    /// Another user of this machine, or one who can no longer be found.
    case other
    /// A client of another machine, or a system that cannot be asked.
    case unknown

    init(of user: PeerUser, by rule: OwnerRule?) {
        guard let rule else {
            self = .unknown
            return
        }
        switch user {
        case .known(let number) where rule.includes(number): self = .owner
        case .known, .gone: self = .other
        case .unknown: self = .unknown
        }
    }
}

/// A server's answer to a request from another user of this machine.
public enum OtherUserVerdict: Sendable {
    /// The request carries a secret of the owner's, so that it is the owner's.
    case admittedAsOwner
    /// The handler may answer; `Exchange.isFromOtherUser` is true.
    case admitted
    case refused(head: ResponseHead, body: [UInt8])
}
