public import EventLoop
import Fetching
import HLS
public import HTTPMessage
public import Origin
import Store

/// Changes the URL of an asset: the old one is dead or has an old token, and another leads to the same content.
@LoopActor public struct Relocation {
    let library: Library

    /// Changes the URL of an asset, in the catalogue and in memory in one step. Stored pieces stay. The new URL must
    /// lead to the same choice of renditions or lone playlist, and to the same segments of renditions with stored
    /// pieces.
    /// - Parameter fields: for the origin of `url`; nil to keep the present ones, which then apply only to the same
    ///   origin.
    /// - Throws: `urlTaken` if the URL is another asset's, `otherContent` if it leads to other content, and any error
    ///   of fetching its playlists or of storing the change. Nothing has changed then.
    public func follow(_ asset: Asset, to url: WebURL, fields: UserFields? = nil) async throws(LibraryError) {
        try library.checkWritable("\(asset.name) stays where it is")
        try library.checkOnline("\(url.redacted) cannot be looked at, since Weir is offline")
        // A live stream that is recorded may still be found at another URL.
        let sources = asset.renditions.compactMap(\.source)
        guard !sources.contains(where: { $0.isRecorded && $0.isDurable }) else {
            throw LibraryError(.otherContent, "\(asset.name) is a recording that has ended: it has no other URL")
        }
        guard asset.revision == nil else {
            throw LibraryError(.otherContent, "\(asset.name) gets no other URL while its new content is fetched")
        }
        try await checkFree(url, for: asset)
        let isSameOrigin = url.origin == asset.access.origin
        // The fields may hold secrets, which another origin must not get.
        let own = isSameOrigin ? asset.fields : UserFields()
        let access = OriginAccess(
            to: url, with: fields ?? own, cookies: asset.access.cookies, route: route(of: asset, at: url))
        let losesFields = fields == nil && !isSameOrigin
        let destination = try await Destination(of: asset, at: url, access, by: library.playlistFetcher)
        try await checkFree(url, for: asset)
        let given = asset.fields.given
        try await move(asset, to: destination)
        if losesFields {
            reportLoss(of: given, asset)
        }
    }

    /// Says in the log that fields for the former origin are forgotten.
    private func reportLoss(of fields: UserFields, _ asset: Asset) {
        guard !fields.isEmpty else { return }
        library.report(
            "\(asset.name): the header fields that were given (\(fields)) are forgotten: they were for another origin than "
                + "\(asset.origin.origin)")
    }

    /// Gives a channel the URL and the header fields that the user's list has for it now, without a look at it. Nothing happens if
    /// another asset has the URL, or if something else than recordings is stored of it, which a look would have to compare.
    ///
    /// Whoever writes the list chooses the new URL. What the user gave for another origin does not go there, and is named in the log;
    /// what the list itself has for the channel goes with its entry.
    package func redirect(_ channel: Asset, by move: ChannelMove) async {
        let stream = move.stream
        let isElsewhere = channel.origin != stream.url
        guard !isElsewhere || library.asset(at: stream.url) == nil, channel.bytes == 0,
            library.readOnlyReason == nil, channel.revision == nil
        else { return }
        let former = channel.origin
        let isSameOrigin = former.origin == stream.url.origin
        let given = channel.fields.given
        let isLists = given.isEmpty || given.texts == move.fields?.texts
        var fields = channel.fields
        if isLists {
            fields = stream.fields ?? UserFields()
            if isSameOrigin {
                fields = fields.adding(fieldsOfPlayer: channel.fields.ofPlayers)
                fields.playerAgent = channel.fields.playerAgent
            }
        } else if !isSameOrigin {
            fields = stream.fields ?? UserFields()
        }
        guard isElsewhere || fields != channel.fields else { return }

        library.assign(former, to: nil)
        library.byTokenlessURL.remove(channel)
        channel.origin = stream.url
        library.assign(stream.url, to: channel)
        library.byTokenlessURL.add(channel)
        channel.access.change(to: stream.url, with: fields)
        if !isSameOrigin {
            let (kept, lost) = channel.access.route.split(forMoveTo: stream.url)
            channel.access.change(kept)
            // Another port of a private host is another service, which only the user may name.
            if !stream.namesHost {
                channel.access.unname()
            }
            reportLoss(of: isLists ? UserFields() : given, lost, of: channel, for: former)
        }
        channel.entryChecks.latest = nil
        library.playlists.allowRenewal(of: channel)
        library.client.forgetAbsence(of: stream.url)
        if channel.isPersistent {
            await library.records.save(channel)
        }
        library.events.send(.assetChanged(channel))
    }

    /// Says in the log what stays with the former origin of a channel that its list has moved.
    private func reportLoss(of fields: UserFields, _ route: OriginRoute, of channel: Asset, for former: WebURL) {
        var lost: [String] = []
        if !fields.isEmpty {
            lost.append("header fields \(fields)")
        }
        if route != OriginRoute() {
            lost.append("\(route)")
        }
        guard !lost.isEmpty else { return }
        library.report(
            "\(channel.name): its channel list has moved it to \(channel.origin.origin), where what you gave for \(former.origin) "
                + "does not apply (\(lost.joined(separator: "; "))): give it again if you trust the new address")
    }

    /// Most assets that are compared with the content of a URL whose path differs from theirs.
    private static let mostCompared = 3

    /// Returns the asset whose known URL differs from a URL only in tokens, if both lead to the same ended playlist,
    /// segment by segment: the URL alone is never enough. From then on the asset uses the new URL.
    /// - Parameters:
    ///   - given: the rights of the new URL.
    ///   - fields: those that the user gave for it; nil if those of the known asset apply.
    func assetWithOtherTokens(
        at url: WebURL, _ given: OriginAccess, fields: UserFields?, cookies: [StoredCookie]
    ) async -> Asset? {
        guard library.readOnlyReason == nil else { return nil }
        let alike = await library.byTokenlessURL.assets(like: url)
        // Ids of films look like tokens too, and each asset that is compared costs requests: the latest first.
        let others = alike.filter { $0.origin.path != url.path }.sorted { $0.created > $1.created }
        for known in alike.filter({ $0.origin.path == url.path }) + others.prefix(Self.mostCompared) {
            let asset = known.revision ?? known
            let sources = asset.renditions.compactMap(\.source)
            guard sources.contains(where: { $0.isDurable && !$0.isRecorded }) else { continue }
            if let fields, fields.given.isEmpty, asset.fields.contradict(fields.lines) {
                continue
            }
            let hasRoute = given.route != OriginRoute()
            let route = hasRoute ? given.route : route(of: asset, at: url)
            let access = OriginAccess(
                to: url, with: fields?.applied(to: asset.fields) ?? asset.fields,
                namesPeer: given.namesPeer || asset.access.namesPeer, cookies: asset.access.cookies, route: route)
            access.cookies.offer(cookies)
            guard let destination = try? await Destination(of: asset, at: url, access, by: library.playlistFetcher),
                destination.isProven, !asset.isRemoved, library.asset(at: url) == nil
            else { continue }
            guard (try? await move(asset, to: destination)) != nil else { continue }
            return known
        }
        return nil
    }

    /// The settings of an asset for another URL.
    private func route(of asset: Asset, at url: WebURL) -> OriginRoute {
        var route = asset.access.route
        if url.host != asset.origin.host {
            route.firstClass = nil
        }
        return route
    }

    /// Throws if the URL is taken; waits for an asset that is being opened there.
    private func checkFree(_ url: WebURL, for asset: Asset) async throws(LibraryError) {
        let occupant = await library.occupant(of: url)
        try asset.checkNotRemoved()
        guard let occupant, occupant !== owner(of: asset) else { return }
        throw LibraryError(.urlTaken, "\(url.redacted) is the URL of another asset, \(occupant.name)")
    }

    /// The asset that owns the URL: a revision shares the URL of the asset that it revises.
    private func owner(of asset: Asset) -> Asset { library.revisions.revised(by: asset) ?? asset }

    /// Moves the asset to the destination, first in the catalogue and then in memory.
    private func move(_ asset: Asset, to destination: Destination) async throws(LibraryError) {
        try await save(destination, of: asset)
        adopt(destination, for: asset)
        library.events.send(.assetChanged(asset))
    }

    /// Writes the whole change to the catalogue, or nothing. From here on the URL is the asset's.
    private func save(_ destination: Destination, of asset: Asset) async throws(LibraryError) {
        let former = asset.origin
        library.assign(destination.url, to: owner(of: asset))
        guard asset.isPersistent else { return }
        let contents = contents(destination, of: asset)
        do {
            try await library.store.catalogue.save(contents, without: destination.lost.map(\.name.id), of: asset.id)
        } catch {
            if destination.url != former {
                library.assign(destination.url, to: nil)
            }
            throw LibraryError(error, about: "\(asset.name) stays where it is")
        }
        asset.keys.markSaved(contents.keys)
        library.summaries?.invalidate(asset)
        guard asset.isRemoved else { return }
        library.assign(destination.url, to: nil)
        try asset.checkNotRemoved()
    }

    private func contents(_ destination: Destination, of asset: Asset) -> Catalogue.Contents {
        var record = asset.record
        record.origin = destination.url.text
        record.fields = destination.access.fields.record
        record.route = destination.access.route.record
        if destination.access.namesPeer {
            record.fromNetwork = nil
        }
        var playlists = destination.sources.filter { $0.rendition.isSaved && $0.source.isDurable }
            .map { library.records.record(of: $0.source, $0.rendition.name.id, in: asset) }
        if let entry = destination.entry, entry.isFit {
            playlists.append(library.records.record(of: entry.playlist, base: entry.base, in: asset))
        }
        return Catalogue.Contents(
            assets: [record] + revisedRecord(like: record, of: asset), playlists: playlists,
            keys: asset.keys.records(of: asset.id, movedTo: destination.keys))
    }

    /// The record of the asset that this one revises, with the same URL and access rules.
    private func revisedRecord(like record: AssetRecord, of asset: Asset) -> [AssetRecord] {
        guard var revised = library.revisions.revised(by: asset)?.record else { return [] }
        revised.origin = record.origin
        revised.fields = record.fields
        revised.fromNetwork = record.fromNetwork
        revised.route = record.route
        return [revised]
    }

    private func adopt(_ destination: Destination, for asset: Asset) {
        if asset.origin != destination.url {
            library.assign(asset.origin, to: nil)
        }
        let owner = owner(of: asset)
        library.byTokenlessURL.remove(owner)
        asset.origin = destination.url
        owner.origin = destination.url
        library.byTokenlessURL.add(owner)
        asset.access.change(to: destination.url, with: destination.access.fields)
        asset.access.change(destination.access.route)
        if destination.access.namesPeer {
            asset.access.confirm()
        }
        // Before the entry, which may name the same keys.
        for (number, url) in destination.keys {
            asset.keys.reidentify(number, by: url)
        }
        for (rendition, source) in destination.sources where rendition.hasEnded {
            rendition.move(to: source)
        }
        for rendition in destination.lost {
            rendition.isSaved = false
            // A piece may have been stored meanwhile.
            guard rendition.folder.bytes == 0 else { continue }
            library.loader.forget([rendition.folder])
            rendition.forget()
        }
        if let entry = destination.entry {
            adopt(entry, for: asset)
        }
        for rendition in asset.renditions {
            rendition.urls.mirror = 0
        }
        asset.entryChecks.latest = Asset.EntryCheck(at: .now, isPresent: true, isForPlayer: true)
        library.playlists.allowRenewal(of: asset)
        if !asset.published.isEmpty {
            library.writeBundle(of: asset)
        }
    }

    private func adopt(_ entry: Destination.Entry, for asset: Asset) {
        guard entry.isFit else {
            let plan = EntryPlan(entry.playlist, known: asset.multivariant)
            return _ = asset.content.relocate(by: plan, base: entry.base)
        }
        library.loader.forget(asset.adopt(entry.playlist, base: entry.base).map(\.folder))
    }
}

extension Destination {
    /// The present URLs of the keys of known playlists, by number.
    fileprivate var keys: [Int: WebURL] {
        var keys: [Int: WebURL] = [:]
        for (rendition, source) in sources {
            for (number, key) in zip(rendition.keyNumbers, source.playlist.keys) {
                if let number, keys[number] == nil {
                    keys[number] = key.url(base: source.base)
                }
            }
        }
        return keys
    }

    /// True if a playlist that has ended was found to be equal.
    fileprivate var isProven: Bool {
        sources.contains { $0.rendition.hasEnded && $0.source.isDurable }
    }
}
