package import Assets
package import Downloads
package import EventLoop
import HLS
import HTTPMessage
package import HTTPServer
package import Orders
import Origin
import Playheads
import Recordings
package import Retention
import SafeText
package import Sessions
package import Sharing
package import Substitution
package import WeirAPI

/// Starts the user's own player. The daemon knows its program and its desktop.
@LoopActor package protocol PlayerStarting {
    /// Starts the player for the asset of a name. Throws if it ends at once with an error.
    func play(_ name: String) async throws(APIError)
}

/// Answers the control API from the library and its downloads.
@LoopActor package final class LibraryService {
    let library: Library
    let substitutions: Substitutions
    let retention: RetentionService
    let downloader: Downloader
    let recorder: ChannelRecorder
    private(set) lazy var texts = AssetTexts(self)
    let streamTexts = StreamTexts()
    let exchange: ExchangeServices
    /// The values of what the selections of requests leave out.
    package var selectionDefaults = Selection()
    /// The summaries that `library` invalidates.
    package let summaries: Summaries
    /// The connections of players, which may hold the space of removed files; nil without a server.
    package weak var pool: ConnectionPool?
    /// Changes the streams file; nil without one.
    package var streams: StreamService?
    /// Changes the user's channel lists; nil without any.
    package var lists: ListService?
    /// Starts the user's player; nil without a desktop to start it on.
    package var players: (any PlayerStarting)?
    /// The sessions, whose logs have events of removed assets for a while; nil without a player's server.
    package weak var sessions: SessionRecords?

    package init(
        library: Library, summaries: Summaries, substitutions: Substitutions, retention: RetentionService,
        exchange: ExchangeServices, downloader: Downloader
    ) {
        self.library = library
        self.substitutions = substitutions
        self.retention = retention
        self.downloader = downloader
        recorder = ChannelRecorder(library, downloader)
        self.exchange = exchange
        self.summaries = summaries
        summaries.start(for: self)
        // The task holds the service until it is done.
        Task { @LoopActor in await self.texts.prepare() }
    }

    package func asset(named name: String) async throws(APIError) -> API.Asset {
        if let orphan = exchange.orphans.bundles[name], library.asset(named: name) == nil {
            return Self.shape(orphan)
        }
        if let stream = knownOnly(named: name) {
            return stream
        }
        let asset = try find(name)
        await library.wake(asset)
        let playable = await playable(asset)
        var shape = await shape(asset)
        shape.playable = playable
        shape.parts = API.Download.parts(of: await DownloadProgress(storedOf: asset))
        shape.isFragmented = asset.isFragmented.trueOrNil
        shape.recordings = library.recordings(of: asset).map(\.name).nonEmpty
        return shape
    }

    /// - Parameter waits: true to return only when nothing of the asset is left in the log files.
    package func removeAsset(named name: String, waits: Bool = false) async throws(APIError) -> API.Removal {
        // One of them may have the URL of the asset.
        await library.waitForLists()
        if let orphan = exchange.orphans.bundles[name], library.asset(named: name) == nil {
            return try await remove(orphan)
        }
        let isAsset = library.asset(named: name) != nil || asset(ofStream: name) != nil
        if !isAsset, let removal = try await lists?.remove(named: name) {
            return removal
        }
        if knownOnly(named: name) != nil, let streams {
            try await streams.remove(named: name)
            return API.Removal(name: name, bytes: 0)
        }
        let asset = try find(name)
        // The list would name it again.
        var hidingList: String?
        if !asset.isChannelRecording, let channel = library.listed.channel(at: asset.origin) {
            hidingList = try await lists?.hide(channel.name)
        }
        downloader.forget(asset)
        let volume = asset.volume
        // Before the files lose their names, and with them the folder by which they are known.
        let heldBytes = heldBytes(of: asset)
        let isFull = "free space on that disk by other means; what is left of it is deleted at the next start"
        do {
            var removal = API.Removal(name: asset.name, bytes: Int(try await library.remove(asset)))
            removal.heldBytes = heldBytes
            removal.list = hidingList
            if let volume, !volume.isThere {
                removal.remainingFolder = volume.path + "/assets/" + asset.id
            }
            if waits {
                await sessions?.completeErasures()
            }
            return removal
        } catch {
            let failure = APIError(error)
            guard failure.code == .diskFull else { throw failure }
            // The usual step, to remove something, is what has failed.
            throw APIError(.diskFull, failure.message, next: isFull, underlying: error)
        }
    }

    package func update(assetNamed name: String) async throws(APIError) -> API.Asset {
        let asset = try find(name)
        if library.isOffline {
            throw APIError(.offline, "\(asset.name) cannot be updated while Weir is offline")
        }
        if asset.isRecorded || asset.isImported || asset.isLive {
            throw APIError(
                .badRequest, "\(asset.name) is live, recorded or imported: no origin has newer content of it")
        }
        let isCompared = await library.revisions.check(asset)
        guard asset.hasChanged || asset.revision != nil else {
            if isCompared {
                return await shape(asset)
            }
            throw APIError(
                .originAbsent, "the origin of \(asset.name) does not show whether its content is the same",
                next: "weir check \(ShellWord.quoted(asset.origin.redacted))")
        }
        // A download keeps its old content until the new is complete. Cached pieces need not be kept.
        guard downloader.download(of: asset) != nil else { return await shape(library.revisions.current(asset)) }
        do throws(Downloader.Refusal) {
            _ = try await downloader.update(asset)
        } catch {
            throw APIError(error, asset: asset.name, url: asset.origin.redacted)
        }
        return await shape(asset)
    }

    package func cache(_ request: API.CacheRequest, ofAsset name: String) async throws(APIError) -> API.Asset {
        guard request.seconds > 0, request.seconds <= 1e6 else {
            throw APIError(.badRequest, "seconds must be a number above 0 and up to 1000000")
        }
        let asset = try find(name)
        if library.isOffline {
            throw APIError(.offline, "nothing of \(asset.name) can be cached while Weir is offline")
        }
        do throws(Downloader.Refusal) {
            _ = try await downloader.cache(
                asset, request.selection.with(defaults: selectionDefaults),
                seconds: request.seconds.value)
        } catch {
            throw APIError(error, asset: asset.name, url: asset.origin.redacted)
        }
        return await shape(asset)
    }

    private func remove(_ orphan: OrphanBundle) async throws(APIError) -> API.Removal {
        do {
            return API.Removal(name: orphan.name, bytes: Int(try await exchange.orphans.remove(orphan)))
        } catch {
            throw APIError(error)
        }
    }

    package func inspect(url text: String) async throws(APIError) -> API.Presentation {
        await presentation(of: try await preview(text), url: UserInformation(splitting: text).url)
    }

    package func explain(_ request: API.DownloadRequest) async throws(APIError) -> API.Presentation {
        let request = completed(request)
        try Self.check(request)
        let selection = request.order.selection
        let source = request.source
        await library.waitForStream(named: source)
        let known = library.asset(named: source)
        let asset: Asset
        var url = UserInformation(splitting: source).url
        if let known {
            asset = known
            url = known.origin.redacted
        } else if source.contains(":") {
            asset = try await preview(source, for: request, isUsers: request.isFromLink != true)
        } else {
            asset =
                try await source.contains("://")
                ? preview(source, for: request, isUsers: request.isFromLink != true)
                : previewStream(named: source, for: request)
        }
        var presentation = await presentation(of: asset, url: url)
        do throws(Selection.NoMatch) {
            var explanation = try AssetShapes(asset).explanation(of: selection)
            let chosen = explanation?.chosen.id
            explanation?.incompatible = incompatible(with: chosen, of: asset)
            presentation.explanation = explanation
        } catch {
            throw APIError(error, source: known?.name ?? url)
        }
        return presentation
    }

    /// The variants whose segments never substitute those of the variant `id`.
    private func incompatible(with id: String?, of asset: Asset) -> [API.Explanation.Incompatible]? {
        guard let multivariant = asset.multivariant, let rendition = id.flatMap({ asset.rendition($0) }) else {
            return nil
        }
        let variants = Set(multivariant.variants.compactMap(\.renditionIndex).map { asset.renditions[$0].name.id })
        let substitutes = substitutions.substitutes(of: rendition, in: asset)
        let refusals = substitutes?.refusals.filter { variants.contains($0.rendition) } ?? []
        return refusals.map { .init(id: $0.rendition, reason: $0.reason) }.nonEmpty
    }

    /// The request, with what its selection leaves out: as it was ordered before, of an asset that has a download, and otherwise as
    /// the configuration says. Another language then fetches no other picture.
    private func completed(_ request: API.DownloadRequest) -> API.DownloadRequest {
        var request = request
        if let asset = knownAsset(request.source) ?? asset(ofStream: request.source), !asset.isChannelRecording,
            let earlier = downloader.download(of: asset)?.task.latestSelection
        {
            request.order.selection = request.order.selection.with(earlier: earlier)
        }
        return request.with(defaults: selectionDefaults)
    }

    package func download(_ request: API.DownloadRequest) async throws(APIError) -> API.Download {
        let request = completed(request)
        try Self.check(request)
        let known = Set(
            [request.source, UserInformation(splitting: request.source).url].compactMap { try? find($0).id })
        let asset: Asset
        if request.order.record == true {
            asset = try await openChannel(request)
        } else {
            asset = try await open(request)
        }
        do throws(APIError) {
            let artwork = try await artwork(request, for: asset)
            let download = try await start(asset, request, isKnown: known.contains(asset.id))
            if let artwork {
                try store(artwork, of: download.asset)
            }
            return await detailed(download)
        } catch {
            if !known.contains(asset.id) {
                await discard(asset)
            }
            throw error
        }
    }

    /// Removes an asset that a refused order has brought, if nothing of it is stored or played.
    func discard(_ asset: Asset) async {
        guard asset.bytes == 0, downloader.download(of: asset) == nil, !library.playheads.isPlayed(asset.id),
            !asset.isRemoved
        else { return }
        // If that fails, an asset without pieces stays.
        _ = try? await library.remove(asset)
    }

    private func start(
        _ asset: Asset, _ request: API.DownloadRequest, isKnown: Bool
    ) async throws(APIError) -> Download {
        var order = request.order
        do throws(Downloader.Refusal) {
            if asset.isChannelRecording {
                // To follow it, or to go on with it, is no order for something that is live.
                order.record = true
                return try await downloader.start(asset, order)
            }
            guard order.record == true else { return try await downloader.start(asset, order) }
            return try await recorder.record(asset, order, name: request.name, title: request.title)
        } catch {
            // Nothing is left of a new asset, whose name the next step could have.
            if case .library(let cause) = error, !isKnown {
                throw APIError(cause, url: UserInformation(splitting: asset.origin.text).url)
            }
            throw Self.failure(error, of: asset, isKnown: isKnown)
        }
    }

    /// The error of a download that did not start, or of playback. A new asset, of which nothing is left, is named by its URL.
    static func failure(_ refusal: Downloader.Refusal, of asset: Asset, isKnown: Bool) -> APIError {
        let url = asset.origin.redacted
        var refusal = refusal
        if case .needsDRM = refusal, !isKnown {
            refusal = .needsDRM(name: url)
        }
        return APIError(refusal, asset: asset.name, url: url)
    }

    package func download(id: String) async throws(APIError) -> API.Download {
        let download = try find(download: id)
        await download.measuredProgress()
        return await detailed(download)
    }

    package func change(
        _ change: API.DownloadChange, id: String, _ request: API.ResumeRequest
    ) async throws(APIError) -> API.Download {
        let download = try find(download: id)
        if download.isUnreadable {
            throw APIError(unreadable: download.asset.name)
        }
        if let reason = request.reason {
            guard change == .pause else { throw APIError(.badRequest, "only pause accepts a reason") }
            guard reason.utf8.count <= 500 else { throw APIError(.badRequest, "the reason is longer than 500 bytes") }
        }
        var order = request
        order.reason = nil
        if order != API.ResumeRequest() {
            try await updateOrigin(of: download.asset, change, order)
        }
        switch change {
        case .pause: await downloader.pause(download, reason: request.reason)
        case .cancel: await downloader.cancel(download)
        case .first: await downloader.moveToFront(download)
        case .resume:
            library.client.forgetAbsence(of: download.asset.origin)
            await downloader.resume(download)
        }
        return await detailed(download)
    }

    /// Changes the URL or header fields of a download that is resumed.
    private func updateOrigin(
        of asset: Asset, _ change: API.DownloadChange, _ request: API.ResumeRequest
    ) async throws(APIError) {
        guard change == .resume else { throw APIError(.badRequest, "only resume accepts a URL or headers") }
        let order = try OriginOrder(
            request.url ?? asset.origin.text, headers: request.headers, route: request.route)
        let route = try order.route(from: asset.route)
        let url = order.url
        let fields = order.fields
        do throws(LibraryError) {
            if let route {
                try await library.setRoute(route, of: asset)
            }
            if let cookies = request.cookies {
                library.offer(Self.cookies(cookies), to: asset)
            }
            // A recording gets its playlists by its channel's way.
            let owner = library.channel(of: asset) ?? asset
            if url != asset.origin {
                try await library.relocation.follow(owner, to: url, fields: fields)
            } else if let fields {
                try await library.setFields(fields, of: owner)
            }
        } catch {
            throw APIError(error, asset: asset.name)
        }
    }

    func find(_ name: String) throws(APIError) -> Asset {
        if let named = library.asset(named: name) ?? library.asset(id: name) {
            return named
        }
        if let ofStream = asset(ofStream: name) {
            return ofStream
        }
        let plain = UserInformation(splitting: name).url
        if let url = try? WebURL(plain), let asset = library.asset(at: url) {
            return asset
        }
        if let orphan = exchange.orphans.bundles[name] {
            throw APIError(orphan)
        }
        try refuse(stream: name)
        // No name has a dot or a slash, and each address has.
        guard !Self.mayBeAddress(plain) else {
            let next = "https://\(plain), if it is an address; or weir list"
            throw APIError(.noSuchAsset, "there is no asset named \(plain)", next: next)
        }

        var sentence = "there is no asset named \(plain)"
        if let nearest = nearestName(to: plain) {
            sentence += "; did you mean \(nearest)?"
        }
        throw APIError(.noSuchAsset, sentence)
    }

    /// The name that a mistyped one was probably meant to be.
    private func nearestName(to name: String) -> String? {
        let names = [library.assets.map(\.name), library.streams.map(\.name)].joined()
        // Names of another length are no slips, and each comparison takes time.
        let candidates = names.lazy.filter { abs($0.utf8.count - name.utf8.count) <= 2 }
        return Spelling(Array(candidates.prefix(Self.comparedNames)), shortest: 3).correction(of: name)
    }

    /// True for an address without its scheme, such as `example.com/master.m3u8`; false for the path or name of a file.
    private static func mayBeAddress(_ word: String) -> Bool {
        guard !word.contains("://"), !word.hasPrefix("."), !word.hasPrefix("/"), !word.hasPrefix("~") else {
            return false
        }
        let host = word.prefix { $0 != "/" }
        let isWhole = host.endIndex == word.endIndex
        let isFile = isWhole && [".m3u8", ".m3u", ".mpd"].contains { host.lowercased().hasSuffix($0) }
        return (host.contains { $0 == "." || $0 == ":" } || host == "localhost") && !isFile
    }

    private static let comparedNames = 1000

    private func find(download id: String) throws(APIError) -> Download {
        if let asset = library.asset(id: id), let download = downloader.download(of: asset) {
            return download
        }
        throw APIError(.noSuchDownload, "there is no download \(id)", next: "weir list")
    }

    package func open(_ request: API.PresentationRequest) async throws(APIError) -> API.Presentation {
        var order = API.DownloadRequest(source: request.source)
        order.headers = request.headers
        order.cookies = request.cookies
        order.route = request.route
        let asset = if let audio = request.audio { try await open(order, with: audio) } else { try await open(order) }
        return await presentation(of: asset, url: asset.origin.redacted)
    }

    /// The asset of a video playlist and an audio playlist.
    private func open(_ request: API.DownloadRequest, with audio: String) async throws(APIError) -> Asset {
        let order = try OriginOrder(request.source, headers: request.headers, route: request.route)
        let audio = try Self.url(audio)
        let route = try order.route(from: library.asset(at: order.url)?.route ?? OriginRoute())
        do throws(LibraryError) {
            return try await library.open(
                video: order.url, audio: audio, fields: order.fields, cookies: Self.cookies(request.cookies),
                route: route)
        } catch {
            throw APIError(error, asset: library.asset(at: order.url)?.name)
        }
    }

    /// The asset of a request, opened with the request's title, header fields and cookies.
    func open(_ request: API.DownloadRequest) async throws(APIError) -> Asset {
        await library.waitForStream(named: request.source)
        let isName = library.asset(named: request.source) != nil || !request.source.contains("://")
        if isName, let recording = try? find(request.source), recording.isChannelRecording {
            return try await open(recording, request)
        }
        let order: OriginOrder
        var namesHost = request.isFromLink != true
        if let stream = library.stream(named: request.source) {
            namesHost = namesHost && stream.namesHost
            order = try OriginOrder(stream.url.text, headers: request.headers, route: request.route)
        } else {
            var source = request.source
            if isName {
                source = try find(source).origin.text
            }
            order = try OriginOrder(source, headers: request.headers, route: request.route)
        }
        let route = try order.route(from: library.asset(at: order.url)?.route ?? OriginRoute())
        // Playback may have noted that the origin does not answer; an order asks it again.
        library.client.forgetAbsence(of: order.url)
        do throws(LibraryError) {
            let asset = try await library.open(
                order.url, name: request.name, title: request.title, fields: order.fields,
                cookies: Self.cookies(request.cookies), route: route, isUsers: namesHost)
            if let title = request.title {
                await library.setTitle(title, of: asset)
            }
            // It may be known by a name from its URL, since it was played.
            if let name = request.name {
                try await library.rename(asset, to: name)
            }
            return asset
        } catch {
            let url = UserInformation(splitting: order.url.text).url
            throw APIError(error, asset: library.asset(at: order.url)?.name, url: url)
        }
    }

    /// The channel of a planned recording, whose origin need not answer before its time.
    func plannedChannel(_ request: API.DownloadRequest) async throws(APIError) -> Asset {
        do throws(APIError) {
            return try await openChannel(request)
        } catch {
            let mayComeLater: [APIError.Code] = [.badOrigin, .originAbsent, .originRefused, .notPlaylist, .offline]
            let stream = library.stream(named: request.source)
            let source = stream?.url.text ?? request.source
            guard mayComeLater.contains(error.code), source.contains(":") else { throw error }
            let order = try OriginOrder(source, headers: request.headers, route: request.route)
            let route = try order.route(from: OriginRoute()) ?? OriginRoute()
            return library.expect(
                order.url, fields: order.fields ?? UserFields(), cookies: Self.cookies(request.cookies), route: route,
                isUsers: stream?.namesHost ?? true)
        }
    }

    /// A recording, whose URL is that of its channel.
    private func open(_ recording: Asset, _ request: API.DownloadRequest) async throws(APIError) -> Asset {
        if let title = request.title {
            await library.setTitle(title, of: recording)
        }
        if let name = request.name {
            do throws(LibraryError) {
                try await library.rename(recording, to: name)
            } catch {
                throw APIError(error, asset: recording.name)
            }
        }
        return recording
    }

    /// The channel of an order to record, or the recording that the order names. The order's name and title are the recording's.
    func openChannel(_ request: API.DownloadRequest) async throws(APIError) -> Asset {
        if let known = try? find(request.source), known.isChannelRecording {
            guard !known.isRecorded || known.isRecording else {
                let channel = library.channel(of: known)?.name ?? known.origin.redacted
                throw APIError(
                    .badRequest, "\(known.name) is a recording that has ended",
                    next: "weir get --record \(ShellWord.quoted(channel)), to record its channel again")
            }
            return try await open(request)
        }
        var opening = request
        opening.name = nil
        opening.title = nil
        guard let name = request.name, !library.isTaken(name) else { return try await open(opening) }
        // A new channel would be called after its URL, perhaps like the recording.
        library.reserved.insert(name)
        defer { library.reserved.remove(name) }
        return try await open(opening)
    }

    /// - Parameter request: has the way to the origin; nil for none.
    private func preview(
        _ text: String, for request: API.DownloadRequest? = nil, isUsers: Bool = true
    ) async throws(APIError) -> Asset {
        let order = try OriginOrder(text, headers: request?.headers, route: request?.route)
        let route = try order.route(from: OriginRoute()) ?? OriginRoute()
        do throws(LibraryError) {
            return try await library.preview(
                order.url, fields: order.fields ?? UserFields(), cookies: Self.cookies(request?.cookies), route: route,
                isUsers: isUsers)
        } catch {
            throw APIError(error, url: UserInformation(splitting: order.url.text).url)
        }
    }

    /// A preview of an entry of the streams file, or its asset if there is one.
    private func previewStream(
        named name: String, for request: API.DownloadRequest
    ) async throws(APIError) -> Asset {
        guard let stream = library.stream(named: name), library.asset(at: stream.url) == nil else {
            return try find(name)
        }
        return try await preview(stream.url.text, for: request, isUsers: stream.namesHost)
    }

    /// The cookies in lines of a cookie file; others are left out.
    private static func cookies(_ lines: [String]?) -> [StoredCookie] {
        guard let lines else { return [] }
        return lines.compactMap { StoredCookie($0.utf8) }
    }

    static func check(_ request: API.DownloadRequest) throws(APIError) {
        if let contradiction = request.order.contradiction {
            throw APIError(.badRequest, contradiction)
        }
    }

    static func url(_ text: String) throws(APIError) -> WebURL {
        do {
            return try WebURL(text)
        } catch {
            let plain = UserInformation(splitting: text).url
            var next: String?
            if error == .unsupportedScheme, !text.contains("://") {
                next = "https://\(plain)"
            }
            throw APIError(.refusedURL, "Weir does not fetch this URL: \(error)", next: next, underlying: error)
        }
    }

    func presentation(of asset: Asset, url: String) async -> API.Presentation {
        let tracks = await AssetShapes(asset).tracks()
        var presentation = API.Presentation(
            url: url, duration: asset.duration, isLive: asset.isLive, tracks: tracks)
        presentation.name = library.asset(at: asset.origin)?.name
        presentation.title = asset.title
        presentation.position = sessions?.history?.entry(of: asset)?.rest.map(API.milliseconds)
        presentation.isFragmented = asset.isFragmented.trueOrNil
        presentation.isProtected = asset.renditions.contains(where: \.needsDRM).trueOrNil
        return presentation
    }

    private func detailed(_ download: Download) async -> API.Download {
        var shape = API.Download(download)
        shape.unselected = await AssetShapes(download.asset).tracksInSlices(besides: download.ids)
        return shape
    }
}

extension Asset {
    /// True if the segments of a rendition have an initialization section, as those of fragmented MP4 do.
    fileprivate var isFragmented: Bool {
        renditions.contains { $0.source?.playlist.hasMaps ?? false }
    }
}
