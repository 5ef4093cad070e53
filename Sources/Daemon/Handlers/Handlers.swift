internal import AccessLog
internal import EventLoop
internal import HTTPMessage
internal import Origin

/// Runs the user's handlers, at most two at a time.
@LoopActor final class Handlers: OriginHandlers {
    private let rules: [HandlerRule]
    /// The program that finds the streams of web pages; nil if the user does not want it.
    private let pageFinder: PageFinder?
    /// The user's URLs that lead to web pages.
    private var pages: Set<String> = []
    private let client: OriginClient
    /// The environment of programs: what they need to find files and to write in the user's language, and nothing secret.
    private let variables: [String]
    private let now: @Sendable () -> Double
    private var memory = HandlerMemory()
    private var running = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private static let mostRunning = 2
    private static let mostPages = 1024
    static let keptVariables = [
        "PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
    ]

    /// - Parameter now: the time of day in seconds since 1970.
    init(
        _ rules: [HandlerRule], pages pageFinder: PageFinder? = nil, client: OriginClient,
        environment: [String: String],
        now: @escaping @Sendable () -> Double = { WallClock.seconds }
    ) {
        self.rules = rules
        self.pageFinder = pageFinder
        self.client = client
        self.now = now
        variables = environment.assignments(of: Self.keptVariables)
    }

    func answers(_ url: WebURL, isUsers: Bool) -> Bool { rule(for: url, isUsers) != nil || isPage(url, isUsers) }

    private func isPage(_ url: WebURL, _ isUsers: Bool) -> Bool { isUsers && pages.contains(url.text) }

    func adopt(page url: WebURL) -> Bool {
        guard pageFinder != nil, !url.needsHandler, rule(for: url, true) == nil, !pages.contains(url.text) else {
            return false
        }
        // They are found again when they are needed.
        if pages.count >= Self.mostPages {
            pages = []
        }
        pages.insert(url.text)
        return true
    }

    private func rule(for url: WebURL, _ isUsers: Bool) -> HandlerRule? {
        rules.first { $0.answers(url, isUsers: isUsers) }
    }

    func forget(_ url: WebURL, isUsers: Bool) { memory.forget(url, isUsers: isUsers) }

    func expiry(of url: WebURL) -> Double? { memory.expiry(of: url) }

    func answer(_ url: WebURL, isUsers: Bool) async -> HandlerAnswer {
        if let known = memory.answer(for: url, isUsers: isUsers, at: now()) {
            return known
        }
        let answer = await newAnswer(url, isUsers: isUsers)
        memory.record(answer, for: url, isUsers: isUsers, at: now())
        return answer
    }

    private func newAnswer(_ url: WebURL, isUsers: Bool) async -> HandlerAnswer {
        let rule = rule(for: url, isUsers)
        await enter()
        defer { leave() }
        guard !Task.isCancelled else { return .failure("nobody waits for it any more") }
        guard let rule else {
            guard let pageFinder, isPage(url, isUsers) else { return .failure("there is none for it") }
            return await pageFinder.answer(about: url, variables: variables)
        }
        switch rule.target {
        case .program(let words):
            switch await HandlerProgram().run(words + ["--", url.text], variables: variables) {
            case .output(let bytes): return HandlerReply.answer(bytes)
            case .failure(let reason): return .failure(reason)
            }
        case .server(let server): return await ask(server, about: url)
        }
    }

    private func ask(_ server: WebURL, about url: WebURL) async -> HandlerAnswer {
        let field = "url=\(PercentEncoding.encode(url.text))"
        var query = field
        if let own = server.query {
            query = "\(own)&\(field)"
        }
        var request = OriginRequest(server.replacingQuery(query))
        request.namedPeer = OriginRequest.Peer(of: server)
        request.deadline = .seconds(HandlerProgram.usualTimeLimit)
        request.retries = .never
        do {
            return HandlerReply.answer(try await client.fetch(request).1)
        } catch {
            return .failure("\(error)")
        }
    }

    private func enter() async {
        guard running >= Self.mostRunning else { return running += 1 }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        if waiting.isEmpty {
            running -= 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
