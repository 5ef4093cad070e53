import Foundation
import Glibc
import TestSupport
import Testing

/// Runs `weir serve` under a simulated service manager, which listens, starts the daemon, gets its notifications, and
/// stops it.
@Suite struct ServiceManagerTests {
    @Test(arguments: [false, true]) func theManagerIsNotifiedOfStartAndStop(isAbstract: Bool) async throws {
        let manager = try NotifySocket(isAbstract: isAbstract)
        let weir = try await WeirProcess(started: false)
        try await weir.start(wrapper: ["env", "NOTIFY_SOCKET=\(manager.name)"])
        #expect(try await manager.message() == "READY=1\nSTATUS=listening on \(await weir.address)")
        #expect(try await weir.terminate() == .code(0))
        #expect(try await manager.message() == "STOPPING=1\nSTATUS=stopping")
        #expect(manager.take() == nil)
    }

    @Test func afterTheReadyNotificationConnectionsAndStopWork() async throws {
        for _ in 1...5 {
            let manager = try NotifySocket()
            let weir = try await WeirProcess(started: false)
            // The socket unit's IPv4 and IPv6 sockets, as descriptors 3 and 4.
            let script = """
                import os, socket, sys
                kept = [socket.create_server(("127.0.0.1", 0))]
                port = kept[0].getsockname()[1]
                if socket.has_ipv6:
                    try: kept.append(socket.create_server(("::1", port), family=socket.AF_INET6))
                    except OSError: pass
                for number, listener in enumerate(kept, 3):
                    os.dup2(listener.fileno(), number)
                    os.set_inheritable(number, True)
                os.environ.update(LISTEN_FDS=str(len(kept)), LISTEN_PID=str(os.getpid()))
                print("sockets", len(kept), file=sys.stderr, flush=True)
                os.execvp(sys.argv[1], sys.argv[1:])
                """
            try await weir.start(wrapper: ["env", "NOTIFY_SOCKET=\(manager.name)", "python3", "-c", script])
            #expect(try await manager.message().hasPrefix("READY=1\n"))
            #expect(try await HTTPProbe.fetch(weir.url("/")).status == 401)
            if await weir.log.contains("sockets 2\n") {
                let answer = try await ProcessRunner.run(
                    "curl", ["-sS", "--noproxy", "*", "http://[::1]:\(await weir.port)/"])
                #expect(answer.output.contains("<title>Weir: how to log in</title>"), "\(answer.errors)")
            }
            #expect(try await weir.terminate() == .code(0))
            #expect(try await manager.message().hasPrefix("STOPPING=1\n"))
        }
    }

    @Test func aFailedNotificationIsAWarning() async throws {
        for (name, reason) in [
            ("/nowhere/notify", "No such file or directory"), ("notify", "it is neither a path nor an abstract name"),
            ("@" + String(repeating: "n", count: 108), "of at most 107 bytes"),
        ] {
            let weir = try await WeirProcess(started: false)
            try await weir.start(wrapper: ["env", "NOTIFY_SOCKET=\(name)"])
            #expect(try await HTTPProbe.fetch(weir.url("/")).status == 401)
            try await waitUntil("the warning") {
                await weir.log.contains("the service manager at NOTIFY_SOCKET=\(name) cannot be notified: ")
            }
            #expect(await weir.log.contains(reason))
            #expect(try await weir.terminate() == .code(0))
        }
    }
}

/// The notification socket of a service manager (sd_notify(3)).
private final class NotifySocket: Sendable {
    let name: String
    private let folder: TemporaryFolder
    private let descriptor: Int32

    init(isAbstract: Bool = false) throws {
        folder = try TemporaryFolder()
        let path = folder.path("notify")
        name = (isAbstract ? "@" : "") + path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemCallError("socket") }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = (isAbstract ? [0] : []) + Array(path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard code == 0 else { throw SystemCallError("bind \(name)") }
    }

    deinit { close(descriptor) }

    /// The next datagram; nil if there is no datagram.
    func take() -> String? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    func message() async throws -> String {
        var text: String?
        try await waitUntil("a datagram at \(name)") {
            text = take()
            return text != nil
        }
        return text ?? ""
    }
}
