import CTestSupport
import Foundation
import Glibc
import Synchronization

/// The server behind ``TestOrigin``: HTTP/1.1 on 127.0.0.1 with one thread per connection and blocking sockets.
///
/// It shares no code with Weir's own server, so that a fault of one cannot hide a fault of the other, and it can send what no
/// proper server sends.
final class OriginServer: Sendable {
    typealias Request = TestOrigin.Request

    /// A rule with the count of its matches and the tokens that it has given out.
    private final class ActiveRule {
        let rule: OriginRule
        var matches = 0
        var signer: TokenSigner?

        init(_ rule: OriginRule) {
            self.rule = rule
            signer = rule.signed.map(TokenSigner.init)
        }
    }

    /// A rule that applies to one request.
    struct Verdict {
        let rule: OriginRule
        /// Nil if the rule requires no tokens.
        let isAdmitted: Bool?
        /// The state of releases before.
        let past: Past
    }

    /// How often something had happened at a moment.
    struct Past {
        var clears: Int
        var releases: Int
    }

    private struct State {
        var rules: [ActiveRule] = []
        var requests: [Request] = []
        /// Number of the first request in ``requests``.
        var firstOrder = 0
        var accepted = 0
        var connections: [ObjectIdentifier: OriginConnection] = [:]
        /// Responses that wait for a release, with the targets of their requests.
        var held: [(target: String, connection: OriginConnection)] = []
        /// The targets of all releases, as globs.
        var releases: [String] = []
        /// How often the rules were cleared, and the number of releases before the last time.
        var clears = 0
        var releasesBeforeClear = 0
        var past: Past { Past(clears: clears, releases: releases.count) }
        var playlists: MadePlaylists
        var listener: Int32?
    }

    private let root: String
    private let state: Mutex<State>

    init(root: String) {
        self.root = root
        state = Mutex(State(playlists: MadePlaylists(folder: root + "/ts/90p")))
    }

    // MARK: - Listening

    /// Listens on a port, 0 for a free one, with no rules and an empty log; returns the port.
    func start(port: Int) throws -> Int {
        let (listener, port) = try OriginServer.listen(port: port)
        state.withLock { state in
            state = State(playlists: MadePlaylists(folder: root + "/ts/90p"))
            state.listener = listener
        }
        Thread.detachNewThread { [self] in
            accept(from: listener)
            close(listener)
        }
        return port
    }

    /// Refuses new connections and closes those that are open, which ends their threads.
    func stop() {
        state.withLock { state in
            if let listener = state.listener {
                shutdown(listener, Int32(SHUT_RDWR))
            }
            state.listener = nil
            for connection in state.connections.values {
                connection.shutDown()
            }
        }
    }

    /// True if no connection is open.
    var isQuiet: Bool { state.withLock { $0.connections.isEmpty } }

    private static func listen(port: Int) throws -> (listener: Int32, port: Int) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw SystemCallError("socket") }

        var isReusable: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &isReusable, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)

        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && Glibc.listen(listener, 512) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isListening else {
            let error = SystemCallError("bind or listen")
            close(listener)
            throw error
        }
        return (listener, Int(in_port_t(bigEndian: address.sin_port)))
    }

    private func accept(from listener: Int32) {
        while true {
            let socket = weir_accept(listener)
            if socket >= 0 {
                serve(socket, of: listener)
            } else if errno == EMFILE || errno == ENFILE || errno == ECONNABORTED || errno == EINTR {
                // Descriptors become free when other connections of the test end.
                poll(nil, 0, 5)
            } else {
                return
            }
        }
    }

    private func serve(_ socket: Int32, of listener: Int32) {
        let connection: OriginConnection? = state.withLock { state in
            guard state.listener == listener else { return nil }
            state.accepted += 1
            let connection = OriginConnection(socket: socket, number: state.accepted, server: self)
            state.connections[ObjectIdentifier(connection)] = connection
            return connection
        }
        guard let connection else {
            close(socket)
            return
        }
        Thread.detachNewThread {
            connection.run()
        }
    }

    /// Called by a connection after its socket is closed.
    func remove(_ connection: OriginConnection) {
        state.withLock { state in
            state.connections[ObjectIdentifier(connection)] = nil
        }
    }

    // MARK: - The log

    /// Logs a request and finds the rule that applies to it.
    func begin(_ head: OriginRequestHead, on connection: Int) -> (order: Int, verdict: Verdict?) {
        state.withLock { state in
            let order = state.firstOrder + state.requests.count
            state.requests.append(Request(order: order, connection: connection, head: head))

            guard let active = state.rules.first(where: { OriginServer.applies($0, to: head) }) else {
                return (order, nil)
            }
            var isAdmitted: Bool?
            if let signed = active.rule.signed {
                let isOpen = matches(head.target, glob: signed.open ?? "*/master.m3u8")
                isAdmitted = isOpen || active.signer?.admits(target: head.target) == true
            }
            return (order, Verdict(rule: active.rule, isAdmitted: isAdmitted, past: state.past))
        }
    }

    /// Changes a request's entry in the log, unless the log was cleared since.
    func update(_ order: Int, _ change: (inout Request) -> Void) {
        state.withLock { state in
            let index = order - state.firstOrder
            guard state.requests.indices.contains(index) else { return }
            change(&state.requests[index])
        }
    }

    private static func applies(_ active: ActiveRule, to head: OriginRequestHead) -> Bool {
        let rule = active.rule
        guard rule.method == nil || rule.method == head.method else { return false }
        guard matches(head.target, glob: rule.path) else { return false }
        guard matches(head.headers["range"] ?? "", glob: rule.range ?? "*") else { return false }

        active.matches += 1
        let skipped = rule.skip ?? (rule.nth ?? 1) - 1
        let times = rule.nth == nil ? rule.times : 1
        guard active.matches > skipped else { return false }
        return times.map { active.matches <= skipped + $0 } ?? true
    }

    // MARK: - Resources

    /// The body and media type of a request's resource; nil if there is none.
    func resource(of head: OriginRequestHead) -> (body: OriginBody, type: String)? {
        let made = state.withLock { state in
            state.playlists.resource(path: head.path, query: head.query)
        }
        if let made {
            return made
        }
        let isInside = !head.path.split(separator: "/").contains("..")
        guard isInside, let file = OriginBody.OpenFile(path: root + head.path) else { return nil }
        return (.file(file), OriginMediaType.of(path: head.path))
    }

    /// Gives a playlist's URIs a token of the rule that requires one.
    func sign(_ body: OriginBody, for rule: OriginRule) -> OriginBody {
        let text = String(decoding: body.read(from: 0, count: body.size), as: UTF8.self)
        return state.withLock { state in
            let active = state.rules.first { $0.rule.signed != nil && $0.rule.path == rule.path }
            let signed = active?.signer?.sign(text) ?? text
            return .bytes(Array(signed.utf8))
        }
    }

    // MARK: - Control

    func add(_ rules: [OriginRule]) {
        state.withLock { state in
            state.rules += rules.map(ActiveRule.init)
        }
    }

    func replaceRules(by rules: [OriginRule]) {
        state.withLock { state in
            state.rules = rules.map(ActiveRule.init)
            state.clears += 1
            state.releasesBeforeClear = state.releases.count
        }
    }

    var requests: [Request] { state.withLock { $0.requests } }

    func clearRequests() {
        state.withLock { state in
            state.firstOrder += state.requests.count
            state.requests = []
        }
    }

    var load: TestOrigin.Load {
        state.withLock { state in
            TestOrigin.Load(
                connections: state.connections.count, accepted: state.accepted, paused: state.held.count)
        }
    }

    func changePlaylists(_ change: (inout MadePlaylists) -> Void) {
        state.withLock { state in
            change(&state.playlists)
        }
    }

    /// The number of releases until now.
    var releases: Int { state.withLock { $0.releases.count } }

    /// Marks a connection's reply as waiting; ``release(_:)`` wakes it. Returns false if the reply need not wait: such replies were
    /// released since the client knows of it.
    func hold(_ connection: OriginConnection, target: String, since past: Past) -> Bool {
        state.withLock { state in
            var known = past.releases
            if past.clears < state.clears {
                // The rules were cleared since, with what waited by them.
                known = min(known, state.releasesBeforeClear)
            }
            if state.releases[known...].contains(where: { matches(target, glob: $0) }) {
                return false
            }
            state.held.append((target, connection))
            return true
        }
    }

    /// Ends a hold; without effect if it was released.
    func unhold(_ connection: OriginConnection) {
        state.withLock { state in
            state.held.removeAll { $0.connection === connection }
        }
    }

    /// Releases the waiting replies whose target matches; returns their number.
    func release(_ glob: String) -> Int {
        state.withLock { state in
            state.releases.append(glob)
            let released = state.held.filter { matches($0.target, glob: glob) }
            state.held.removeAll { matches($0.target, glob: glob) }
            for item in released {
                item.connection.wake()
            }
            return released.count
        }
    }
}

/// True if a text matches a glob (`*`, `?`, `[…]`; `*` crosses slashes).
func matches(_ text: String, glob: String) -> Bool {
    fnmatch(glob, text, FNM_NOESCAPE) == 0
}
