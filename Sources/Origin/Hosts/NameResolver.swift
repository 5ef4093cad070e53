import CLibcurl
import EventLoop
import Glibc

/// Finds the addresses of a name. May block for as long as the system's resolver does.
protocol NameLookup: Sendable {
    func addresses(of name: String) -> NameCache.Answer
}

/// Waits for the addresses of a name.
@LoopActor protocol NameWaiter: AnyObject {
    /// The name is resolved, or cannot be. Not called from within `NameResolver.resolve`.
    func nameResolved(_ answer: NameCache.Answer)
}

/// Resolves names on threads of its own: getaddrinfo(3) blocks, and libcurl's limit for a connection would include it.
///
/// Equal names are looked up once at a time. A caller's limit does not end a lookup, and its result is kept.
@LoopActor final class NameResolver {
    private var cache = NameCache()
    private let lookup: any NameLookup
    /// Those that wait, by name. A name without any is looked up for later requests.
    private var waiters: [String: [any NameWaiter]] = [:]
    /// Names that wait for a thread, in order.
    private var queue: [String] = []
    private var running = 0
    /// Counts changes of the network: an answer from before the last one is not used.
    private var network = 0
    /// Bounds the threads. A resolver that does not answer keeps one for half a minute.
    private static let maximumThreads = 64

    init(_ lookup: any NameLookup) { self.lookup = lookup }

    /// Returns the answer if it is known. Otherwise `waiter`, which is retained, receives it later.
    func resolve(_ name: String, for waiter: any NameWaiter) -> NameCache.Answer? {
        switch cache.find(name, now: .now) {
        case .known(let answer): return answer
        case .old(let answer):
            begin(name)
            return answer
        case .unknown:
            begin(name)
            waiters[name]?.append(waiter)
            return nil
        }
    }

    /// The addresses that were found last, however old; nil if there are none.
    func formerAddresses(of name: String) -> [SocketAddress]? { cache.formerAddresses(of: name) }

    /// Stops waiting.
    func cancel(_ waiter: any NameWaiter) {
        for (name, waiting) in waiters where waiting.contains(where: { $0 === waiter }) {
            let left = waiting.filter { $0 !== waiter }
            waiters[name] = left
            // A lookup that has not begun is not worth a thread.
            guard left.isEmpty, let index = queue.firstIndex(of: name) else { continue }
            queue.remove(at: index)
            waiters[name] = nil
        }
    }

    /// Records that a connection to the name's addresses failed.
    func recordFailure(of name: String) { cache.recordFailure(of: name, now: .now) }

    /// Forgets all answers: the network is another one. Those that wait receive a new one.
    func reset() {
        cache = NameCache()
        network += 1
        // The threads of the former network may be kept for long.
        running = 0
        queue = waiters.filter { !$0.value.isEmpty }.map(\.key)
        waiters = waiters.filter { !$0.value.isEmpty }
        startThreads()
    }

    private func begin(_ name: String) {
        guard waiters[name] == nil else { return }
        waiters[name] = []
        queue.append(name)
        startThreads()
    }

    private func startThreads() {
        while running < Self.maximumThreads, !queue.isEmpty {
            let name = queue.removeFirst()
            running += 1
            let lookup = lookup
            let network = network
            let isStarted = LookupThread.start { [weak self] in
                let answer = lookup.addresses(of: name)
                Task { @LoopActor in self?.finish(name, with: answer, network: network) }
            }
            if !isStarted {
                let answer = NameCache.Answer.failed("the system has no thread left for a lookup")
                Task { @LoopActor in finish(name, with: answer, network: network) }
            }
        }
    }

    private func finish(_ name: String, with answer: NameCache.Answer, network: Int) {
        if network == self.network {
            running -= 1
            let answer = cache.record(answer, for: name, now: .now)
            for waiter in waiters.removeValue(forKey: name) ?? [] {
                waiter.nameResolved(answer)
            }
        }
        startThreads()
    }
}

/// A detached thread for one lookup.
private enum LookupThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a thread that runs `body`; false if the system has none left.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        var thread = pthread_t()
        let held = Unmanaged.passRetained(Body(body))
        guard pthread_create(&thread, nil, main, held.toOpaque()) == 0 else {
            held.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        guard let context else { return nil }
        Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
        return nil
    }
}

/// The system's resolver: /etc/hosts, DNS and whatever else nsswitch.conf(5) names.
struct SystemLookup: NameLookup {
    /// Most addresses of one name that are used.
    private static let maximumCount = 16

    func addresses(of name: String) -> NameCache.Answer {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)

        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &list)
        defer {
            if let list {
                freeaddrinfo(list)
            }
        }

        guard code == 0 else {
            let isSilent = code == EAI_AGAIN || code == EAI_SYSTEM || code == EAI_MEMORY
            let words = "its name could not be resolved"
            guard isSilent else { return .none(words) }
            return .failed("\(words): the DNS gives no answer")
        }

        var found: [SocketAddress] = []
        for node in sequence(first: list, next: { $0?.pointee.ai_next }) {
            guard let node, let address = node.pointee.ai_addr else { continue }
            let raw = UnsafeRawBufferPointer(start: address, count: Int(node.pointee.ai_addrlen))
            guard !Self.hasZone(node.pointee.ai_family, raw),
                let address = SocketAddress(family: node.pointee.ai_family, raw), !found.contains(address)
            else { continue }
            found.append(address)
        }
        return .addresses(Array(found.prefix(Self.maximumCount)))
    }

    /// True for a link-local IPv6 address: CURLOPT_RESOLVE has no field for its interface.
    private static func hasZone(_ family: Int32, _ raw: UnsafeRawBufferPointer) -> Bool {
        family == AF_INET6 && raw.count >= MemoryLayout<sockaddr_in6>.size
            && raw.loadUnaligned(as: sockaddr_in6.self).sin6_scope_id != 0
    }
}
