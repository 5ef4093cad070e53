package import Assets
package import EventLoop
import Fetching
import HLS
import HTTPMessage
import Origin
import Store

/// The files in which the last state of each list is kept. Its functions block, and may be called on any thread.
package protocol ListStore: Sendable {
    /// The text that was written last; nil for none.
    func read(_ list: String) -> [UInt8]?
    /// Replaces the text. Returns an error as a sentence.
    func write(_ list: String, _ text: [UInt8]) -> String?
    func remove(_ list: String)
}

/// The user's channel lists: fetches each again at its time, and makes their channels known to the library by name. A channel becomes an
/// asset only when somebody plays or records it.
@LoopActor package final class ChannelLists {
    /// The state of one list.
    package struct Summary: Equatable, Sendable {
        package let list: KnownList
        package var channels = 0
        package var hidden = 0
        package var leftOut = 0
        /// The latest success, in seconds since 1970; nil if there was none.
        package var fetched: Int64?
        /// True while its last state is read after a start: the other figures are not known yet.
        package var isReading = false
        /// The reason, as a sentence, why the latest attempt failed; nil if it did not.
        package var problem: String?
    }

    private final class Subscription {
        let list: KnownList
        var content: ListContent?
        var problem: String?
        /// In seconds since 1970.
        var tried: Int64?
        var refresh: Task<Void, Never>?

        init(_ list: KnownList) { self.list = list }
    }

    private let library: Library
    private let store: any ListStore
    private let report: @Sendable (String) -> Void
    private var subscriptions: [Subscription] = []
    private var timer: LoopTimer?
    private var isOpen = true
    /// The latest change of the lists, in progress or done.
    private var change: Task<Void, Never>?

    /// - Parameter report: receives sentences for the log.
    package init(
        _ library: Library, store: any ListStore, report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.library = library
        self.store = store
        self.report = report
        timer = LoopTimer { [weak self] in self?.look() }
    }

    /// Begins to take over the lists of the streams file, and then to look at the clock. Meanwhile the library waits for channels.
    package func start(_ lists: [KnownList]) {
        subscriptions = lists.map(Subscription.init)
        library.listedReading.begin()
        Task { @LoopActor in
            await set(lists)
            look()
        }
    }

    /// Takes over the lists of the streams file, with their last states. Lists that are not named any more are forgotten.
    package func set(_ lists: [KnownList]) async { await inTurn { await self.adopt(lists) } }

    private func adopt(_ lists: [KnownList]) async {
        let former = subscriptions
        subscriptions = lists.map { list in
            former.first { $0.list == list } ?? Subscription(list)
        }
        for gone in former where !lists.contains(where: { $0.name == gone.list.name }) {
            gone.refresh?.cancel()
            let store = store
            let name = gone.list.name
            try? await DiskWork.run { () throws(StoreError) in store.remove(name) }
        }
        await publish()
        await restore()
        library.listedReading.end()
    }

    /// Reads the last states of lists, at a time. The channels of each are known as soon as it is read.
    private func restore() async {
        let unread = subscriptions.filter { $0.content == nil }
        guard !unread.isEmpty else { return }
        library.listedReading.begin()
        await withTaskGroup(of: (name: String, content: ListContent?).self) { group in
            for list in unread.map(\.list) {
                group.addTask { [store] in (list.name, await Self.stored(list, in: store)) }
            }
            for await read in group {
                guard let content = read.content else { continue }
                unread.first { $0.list.name == read.name }?.content = content
                await publish()
                library.listedReading.advance()
            }
        }
    }

    /// The last state of a list; nil for none.
    private nonisolated static func stored(_ list: KnownList, in store: any ListStore) async -> ListContent? {
        let text = try? await DiskWork.run { () throws(StoreError) in store.read(list.name) }
        guard let text = text ?? nil else { return nil }
        let content = await PureWork.shared.run(size: text.count, for: Reader()) { ListContent(stored: text, of: list) }
        return content ?? nil
    }

    /// Stands for the reading of a list.
    private final class Reader: Sendable {}

    /// Makes a change after all earlier ones are made and saved: each takes a while on another thread, and begins with what the one
    /// before it has left.
    private func inTurn<Value: Sendable>(_ body: @escaping @LoopActor () async -> Value) async -> Value {
        let before = change
        let task = Task { @LoopActor in
            await before?.value
            return await body()
        }
        change = Task { @LoopActor in _ = await task.value }
        return await task.value
    }

    package func stop() {
        isOpen = false
        timer?.cancel()
        for subscription in subscriptions {
            subscription.refresh?.cancel()
        }
    }

    /// The states of all lists, in the order of the streams file.
    package var summaries: [Summary] {
        subscriptions.map { subscription in
            var summary = Summary(list: subscription.list)
            summary.problem = subscription.problem
            summary.isReading = subscription.content == nil && library.listedReading.isInProgress
            if let content = subscription.content {
                summary.channels = content.channels.count
                summary.hidden = content.roster.hiddenCount
                summary.leftOut = content.leftOut
                summary.fetched = content.fetched
            }
            return summary
        }
    }

    package func summary(of name: String) -> Summary? { summaries.first { $0.list.name == name } }

    // MARK: Time

    /// Fetches the lists that are due. The timer calls it, and a test that moves the clock.
    package func look() {
        guard isOpen, !subscriptions.isEmpty else { return }
        let now = library.date()
        var pause = Self.longestPause
        for subscription in subscriptions {
            let wait = due(subscription) - now
            if wait > 0 {
                pause = min(pause, wait)
            } else {
                begin(subscription, isOrdered: false)
                pause = min(pause, Self.retryPause)
            }
        }
        timer?.schedule(after: .seconds(pause))
    }

    /// So that a clock that is set and a machine that wakes are noticed.
    private static let longestPause: Int64 = 60
    /// After an attempt that failed, unless the interval of the list is shorter.
    private static let retryPause: Int64 = 300

    private func due(_ subscription: Subscription) -> Int64 {
        let interval = subscription.list.interval
        var regular = Int64.min
        if let content = subscription.content {
            regular = content.fetched + interval
        }
        guard let tried = subscription.tried else { return regular }
        return max(regular, tried + min(interval, Self.retryPause))
    }

    /// Fetches a list now, and returns once its channels are known.
    package func refresh(_ name: String) async {
        guard let subscription = subscriptions.first(where: { $0.list.name == name }) else { return }
        begin(subscription, isOrdered: true)
        await subscription.refresh?.value
    }

    private func begin(_ subscription: Subscription, isOrdered: Bool) {
        guard subscription.refresh == nil else { return }
        subscription.tried = library.date()
        subscription.refresh = Task { @LoopActor in
            let problem = await update(subscription, isOrdered: isOrdered)
            subscription.refresh = nil
            guard subscription.problem != problem else { return }
            subscription.problem = problem
            if let problem {
                report("the channel list \(subscription.list.name) stays as it was: \(problem)")
            }
        }
    }

    // MARK: Fetching

    private static let limit: Int64 = 64 << 20
    private static let deadline = Duration.seconds(300)

    /// Fetches a list. Returns an error as a sentence; then nothing has changed.
    private func update(_ subscription: Subscription, isOrdered: Bool) async -> String? {
        let list = subscription.list
        guard !library.isOffline else { return "Weir is offline" }
        var route = OriginRoute()
        route.firstClass = subscription.content?.hostClass
        let access = OriginAccess(to: list.url, with: list.fields, route: route)
        var request = OriginRequest(list.url)
        access.grant(to: &request)
        request.acceptsCompression = true
        request.limit = Self.limit
        request.deadline = Self.deadline
        if !isOrdered {
            request.priority = .background
        }
        let answer: (head: OriginHead, text: [UInt8])
        do throws(LibraryError) {
            answer = try await library.playlistFetcher.fetch(request, wanted: "a channel list")
        } catch {
            return error.message
        }
        return await inTurn {
            await self.adopt(answer.text, from: answer.head.url, hostClass: access.route.firstClass, subscription)
        }
    }

    /// A text that was fetched, as it was understood.
    private enum Reading: Sendable {
        case list(ListContent, moved: [ChannelMove])
        case problem(String)
    }

    private func adopt(
        _ text: [UInt8], from base: WebURL, hostClass: HostClass?, _ subscription: Subscription
    ) async -> String? {
        guard subscriptions.contains(where: { $0 === subscription }) else { return nil }
        let list = subscription.list
        let former = subscription.content
        let taken = names(besides: subscription)
        let now = library.date()
        let reading = await PureWork.shared.run(size: .max, for: subscription) {
            Self.read(text, of: list, former, base: base, hostClass: hostClass, taken: taken, now: now)
        }
        switch reading {
        case nil: return "it was given up"
        case .problem(let sentence): return sentence
        case .list(let content, let moved):
            subscription.content = content
            await publish()
            await redirect(moved)
            return await save(subscription)
        }
    }

    private nonisolated static func read(
        _ text: [UInt8], of list: KnownList, _ former: ListContent?, base: WebURL, hostClass: HostClass?,
        taken: [String], now: Int64
    ) -> Reading {
        guard ChannelList.isMeant(by: text), !ChannelList.isHLS(text) else {
            return .problem("\(base.redacted) gave something else than a channel list")
        }
        let new = ChannelList(text)
        guard !new.channels.isEmpty else { return .problem("\(base.redacted) gave a list without channels") }
        var roster = former?.roster ?? ChannelRoster()
        var names = ChannelNames(taken: Set(taken))
        let changes = roster.adopt(new) { channel, own in names.name(for: channel, besides: own) }
        let content = ListContent(roster, of: list, base: base, hostClass: hostClass, fetched: now)
        let moves = Dictionary(changes.moved.map { ($0.name, $0.from) }) { first, _ in first }
        var moved: [ChannelMove] = []
        for stream in content.channels {
            guard let from = moves[stream.name], let url = try? (former?.base ?? base).resolving(from.url) else {
                continue
            }
            moved.append(ChannelMove(from: url, fields: ListContent.fields(of: from, at: url), to: stream))
        }
        return .list(content, moved: moved)
    }

    /// The names that a new channel cannot have.
    private func names(besides own: Subscription) -> [String] {
        var names = library.assets.map(\.name) + library.streams.map(\.name) + subscriptions.map(\.list.name)
        for other in subscriptions where other !== own {
            names += other.content?.channels.map(\.name) ?? []
        }
        return names
    }

    /// Gives assets the URLs and header fields that their channels have now.
    private func redirect(_ moved: [ChannelMove]) async {
        var slice = LoopSlice()
        for move in moved {
            await slice.giveWay()
            guard let asset = library.asset(at: move.from) else { continue }
            await library.relocation.redirect(asset, by: move)
        }
    }

    /// Makes the channels of all lists known to the library.
    private func publish() async {
        let contents = subscriptions.compactMap(\.content)
        let index = await Task.detached {
            ListedChannels(contents.flatMap(\.channels), guides: contents.flatMap(\.guides))
        }.value
        let former = library.listed
        library.listed = index
        // To free 100,000 channels takes long.
        Task.detached { _ = former }
    }

    private func save(_ subscription: Subscription) async -> String? {
        guard let content = subscription.content else { return nil }
        let store = store
        let name = subscription.list.name
        let failure = try? await DiskWork.run { () throws(StoreError) in store.write(name, content.text) }
        return failure ?? nil
    }

    // MARK: Hiding

    /// Hides a channel, now and after each refresh. Returns false if no list has it.
    /// - Throws: a sentence if that cannot be noted; then nothing has changed.
    package func hide(_ channel: String) async throws(ListFailure) -> Bool {
        guard let stream = library.listed.channel(named: channel),
            let subscription = subscriptions.first(where: { $0.list.name == stream.list })
        else { return false }
        // While the list is being read, it waits for the new content, which may have the channel as well.
        return try await inTurn { await self.hide(channel, of: subscription) }.get()
    }

    private func hide(_ channel: String, of subscription: Subscription) async -> Result<Bool, ListFailure> {
        guard subscriptions.contains(where: { $0 === subscription }), let former = subscription.content else {
            return .success(false)
        }
        let content = await Task.detached { former.hiding(channel) }.value
        guard let content else { return .success(false) }
        subscription.content = content
        if let failure = await save(subscription) {
            subscription.content = former
            return .failure(ListFailure(sentence: failure))
        }
        await publish()
        return .success(true)
    }
}

/// A change of a list that is not done, with the reason as a sentence.
package struct ListFailure: Error, Equatable, Sendable {
    package let sentence: String
}
