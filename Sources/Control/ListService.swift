package import Assets
package import EventLoop
import HTTPMessage
import Origin
package import Recordings
import WeirAPI

/// Answers for channel lists: adds them to the streams file, removes them, and finds channels.
@LoopActor package final class ListService {
    private let library: Library
    private let lists: ChannelLists
    private let streams: StreamService

    package init(_ library: Library, _ lists: ChannelLists, streams: StreamService) {
        self.library = library
        self.lists = lists
        self.streams = streams
    }

    package func register(in handlers: inout EndpointHandlers) {
        handlers.on(Endpoints.lists) { _ throws(APIError) in
            API.ChannelLists(lists: self.lists.summaries.map(Self.shape))
        }
        handlers.on(Endpoints.addList) { _, request throws(APIError) in try await self.add(request) }
        handlers.on(Endpoints.refreshList) { call throws(APIError) in try await self.refresh(call.item) }
        handlers.on(Endpoints.removeList) { call throws(APIError) in
            await self.library.waitForLists()
            return try await self.removeList(named: call.item)
        }
        handlers.on(Endpoints.channels) { call throws(APIError) in
            let most = try call.query.count("limit", upTo: Self.mostChannels)
            return try await self.channels(with: try call.query.word("find"), limit: most ?? Self.usualChannels)
        }
    }

    private static let usualChannels = 1_000
    private static let mostChannels = 100_000

    /// Adds a list and reads it; one that is known is read again. A list that cannot be read is not added.
    private func add(_ request: API.ChannelListRequest) async throws(APIError) -> API.ChannelList {
        try checkOnline()
        await library.waitForLists()
        if let known = lists.summaries.first(where: { $0.list.address == request.url })?.list {
            await lists.refresh(known.name)
            return try read(known.name)
        }
        let list = try list(of: request)
        await lists.set(try await streams.append(list))
        await lists.refresh(list.name)
        do throws(APIError) {
            return try read(list.name)
        } catch {
            await lists.set(try await streams.remove(list: list.name))
            throw error
        }
    }

    private func refresh(_ name: String) async throws(APIError) -> API.ChannelList {
        try checkOnline()
        await library.waitForLists()
        await lists.refresh(name)
        return try read(name)
    }

    private func checkOnline() throws(APIError) {
        if library.isOffline {
            throw APIError(.offline, "a channel list cannot be read while Weir is offline")
        }
    }

    private func list(of request: API.ChannelListRequest) throws(APIError) -> KnownList {
        let order = try OriginOrder(request.url, headers: request.headers)
        if let name = request.name, !AssetNaming.isName(name) {
            throw APIError(.badRequest, AssetNaming.flaw(of: name))
        }
        let wish = request.name ?? AssetNaming.name(for: order.url)
        let names = Set(lists.summaries.map(\.list.name))
        let name = AssetNaming.unique(wish) { word in
            names.contains(word) || library.isTaken(word) || library.stream(named: word) != nil
        }
        var interval = KnownList.usualInterval
        if let given = request.interval {
            interval = Int64(given)
        }
        guard KnownList.intervals.contains(interval) else {
            throw APIError(.badRequest, "interval must be from a minute to a year")
        }
        let lines = (request.headers ?? []).map(\.line)
        do {
            return try KnownList(name: name, address: request.url, lines: lines, interval: interval)
        } catch {
            throw APIError(.badRequest, "\(error)")
        }
    }

    /// The state of a list that was read just now. Throws if that failed.
    private func read(_ name: String) throws(APIError) -> API.ChannelList {
        guard let summary = lists.summary(of: name) else { throw Self.noList(name) }
        if let problem = summary.problem {
            throw APIError(.badOrigin, problem, next: "check the address; then repeat the command")
        }
        return Self.shape(summary)
    }

    private func removeList(named name: String) async throws(APIError) -> API.Removal {
        guard lists.summary(of: name) != nil else { throw Self.noList(name) }
        await lists.set(try await streams.remove(list: name))
        return API.Removal(name: name, bytes: 0)
    }

    private static func noList(_ name: String) -> APIError {
        APIError(.noSuchAsset, "there is no channel list \(name)")
    }

    /// Removes a list, or hides a channel of one; nil if there is neither of the name.
    func remove(named name: String) async throws(APIError) -> API.Removal? {
        if lists.summary(of: name) != nil {
            return try await removeList(named: name)
        }
        guard let list = try await hide(name) else { return nil }
        var removal = API.Removal(name: name, bytes: 0)
        removal.list = list
        return removal
    }

    /// Hides a channel, and returns the name of its list; nil if no list has it.
    func hide(_ channel: String) async throws(APIError) -> String? {
        let list = library.listed.channel(named: channel)?.list
        do throws(ListFailure) {
            return try await lists.hide(channel) ? list : nil
        } catch {
            throw APIError(.cannotWrite, "\(channel) is not removed: \(error.sentence)")
        }
    }

    // MARK: Channels

    /// The channels whose name, title or group has a text, in any letter case.
    private func channels(with text: String?, limit: Int) async throws(APIError) -> API.Channels {
        await library.waitForLists()
        let listed = library.listed
        return await Task.detached {
            let wanted = text?.lowercased()
            var found = API.Channels(channels: [], count: 0)
            for channel in listed.channels where Self.fits(channel, wanted) {
                found.count += 1
                if found.channels.count < limit {
                    found.channels.append(Self.shape(channel))
                }
            }
            return found
        }.value
    }

    private nonisolated static func fits(_ channel: KnownStream, _ wanted: String?) -> Bool {
        guard let wanted else { return true }
        let words = [channel.name, channel.title?.lowercased(), channel.group?.lowercased()]
        return words.contains { $0?.contains(wanted) ?? false }
    }

    private nonisolated static func shape(_ channel: KnownStream) -> API.Channel {
        var shape = API.Channel(name: channel.name, list: channel.list ?? "")
        shape.title = channel.title
        shape.group = channel.group
        shape.logo = channel.logo
        shape.guideID = channel.guideID
        return shape
    }

    private static func shape(_ summary: ChannelLists.Summary) -> API.ChannelList {
        var shape = API.ChannelList(
            name: summary.list.name, url: summary.list.url.redacted, interval: Int(summary.list.interval),
            channels: summary.channels)
        shape.hidden = summary.hidden > 0 ? summary.hidden : nil
        shape.leftOut = summary.leftOut > 0 ? summary.leftOut : nil
        shape.fetched = summary.fetched.map { Int($0) }
        if summary.isReading {
            shape.isReading = true
        }
        shape.problem = summary.problem
        return shape
    }
}
