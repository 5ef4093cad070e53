public import Downloader
public import EventLoop
import HTTPMessage
public import Library
import Origin
import Playlist
public import Retention

/// The control API's answers, from the library and its downloads.
@LoopActor public final class LibraryService: ControlService {
    let library: Library
    let retention: Retention
    let downloader: Downloader
    /// What lists say of assets.
    private(set) lazy var texts = AssetTexts(self)
    let published: Publications

    /// A service over rooms that outlive it.
    public init(library: Library, retention: Retention, downloader: Downloader) {
        (self.library, self.retention) = (library, retention)
        self.downloader = downloader
        published = Publications(library)
        library.summaries.describe = { [weak self] asset in self?.found(asset) }
        // It holds the service until it is done.
        Task { @LoopActor in await self.texts.prepare() }
    }

    /// See `ControlService`.
    public func asset(named name: String) async throws(ControlError) -> API.Asset {
        if let stray = library.strays[name], library.asset(named: name) == nil { return Self.shape(stray) }
        if let stream = knownOnly(named: name) { return stream }
        let asset = try find(name)
        let playable = await playable(asset)
        var shape = shape(asset)
        shape.playable = playable
        shape.parts = API.Download.parts(of: DownloadProgress(storedOf: asset))
        return shape
    }

    /// See `ControlService`.
    public func removeAsset(named name: String) async throws(ControlError) -> API.Removal {
        if let stray = library.strays[name], library.asset(named: name) == nil { return try await remove(stray) }
        let asset = try find(name)
        downloader.forget(asset)
        let annex = asset.annex
        do {
            var removal = API.Removal(name: name, bytes: Int(try await library.remove(asset)))
            if let annex, !annex.isThere { removal.left = annex.path + "/assets/" + asset.id }
            return removal
        } catch {
            throw ControlError(error)
        }
    }

    private func remove(_ stray: StrayBundle) async throws(ControlError) -> API.Removal {
        do {
            return API.Removal(name: stray.name, bytes: Int(try await library.remove(stray)))
        } catch {
            throw ControlError(error)
        }
    }

    /// See `ControlService`.
    public func inspect(url text: String) async throws(ControlError) -> API.Presentation {
        presentation(of: try await preview(text), url: text)
    }

    /// See `ControlService`.
    public func explain(_ request: API.DownloadRequest) async throws(ControlError) -> API.Presentation {
        try Self.check(request)
        let selection = Selection(request.selections[0])
        let source = request.source
        let known = library.asset(named: source)
        let fields = try Self.fields(request.headers) ?? UserFields()
        let asset: Asset
        if let known {
            asset = known
        } else {
            asset = try await source.contains(":") ? preview(source, fields) : previewStream(named: source, fields)
        }
        var presentation = presentation(of: asset, url: known == nil ? source : asset.origin.redacted)
        do throws(Selection.NoMatch) {
            var explanation = try AssetShapes(asset).explanation(of: selection)
            let chosen = explanation?.chosen.id
            explanation?.unmixed = Self.unmixed(with: chosen, of: asset)
            presentation.explanation = explanation
        } catch {
            throw ControlError(.noMatch, error.description)
        }
        return presentation
    }

    /// The variants that never stand in for one of them.
    private static func unmixed(with id: String?, of asset: Asset) -> [API.Explanation.Unmixed]? {
        guard let multivariant = asset.multivariant, let rendition = id.flatMap({ asset.rendition($0) }) else {
            return nil
        }
        let variants = Set(multivariant.variants.compactMap(\.renditionIndex).map { asset.renditions[$0].name.id })
        let refusals = asset.substitutes(of: rendition)?.refusals.filter { variants.contains($0.rendition) } ?? []
        return refusals.isEmpty ? nil : refusals.map { .init(id: $0.rendition, reason: $0.reason) }
    }

    /// See `ControlService`.
    public func download(_ request: API.DownloadRequest) async throws(ControlError) -> API.Download {
        try Self.check(request)
        let asset = try await open(request)
        let artwork = try await artwork(request, for: asset)
        let download = try await start(asset, request)
        if let artwork { try keep(artwork, of: asset) }
        return whole(download)
    }

    private func start(_ asset: Asset, _ request: API.DownloadRequest) async throws(ControlError) -> Download {
        do throws(Downloader.Refusal) {
            return try await downloader.start(asset, DownloadOrder(request))
        } catch {
            throw ControlError(error, asset: asset.name, url: asset.origin.redacted)
        }
    }

    /// See `ControlService`.
    public func download(id: String) async throws(ControlError) -> API.Download { whole(try find(download: id)) }

    /// See `ControlService`.
    public func change(
        _ change: DownloadChange, id: String, _ request: API.ResumeRequest
    ) async throws(ControlError) -> API.Download {
        let download = try find(download: id)
        if download.isUnreadable { throw ControlError(unreadable: download.asset.name) }
        if request != API.ResumeRequest() { try await lead(download.asset, change, request) }
        switch change {
        case .pause: await downloader.pause(download)
        case .cancel: await downloader.cancel(download)
        case .resume: await downloader.resume(download)
        }
        return whole(download)
    }

    /// Lets what is resumed be fetched from another place.
    private func lead(
        _ asset: Asset, _ change: DownloadChange, _ request: API.ResumeRequest
    ) async throws(ControlError) {
        guard change == .resume else { throw ControlError(.badRequest, "only what is resumed takes a URL or headers") }
        let url = try request.url.map { text throws(ControlError) in try Self.url(text) } ?? asset.origin
        let fields = try Self.fields(request.headers)
        do throws(LibraryError) {
            if url != asset.origin {
                try await library.follow(asset, to: url, fields: fields)
            } else if let fields {
                try await library.setFields(fields, of: asset)
            }
        } catch {
            throw ControlError(error, asset: asset.name)
        }
    }

    // MARK: Finding

    func find(_ name: String) throws(ControlError) -> Asset {
        let named = library.asset(named: name) ?? asset(ofStream: name)
        if let asset = named ?? (try? WebURL(name)).flatMap({ library.asset(at: $0) }) { return asset }
        if let stray = library.strays[name] { throw ControlError(stray) }
        try refuse(stream: name)
        throw ControlError(.noSuchAsset, "there is no asset called \(name)", next: "weir list")
    }

    private func find(download id: String) throws(ControlError) -> Download {
        if let asset = library.asset(id: id), let download = downloader.download(of: asset) { return download }
        throw ControlError(.noSuchDownload, "there is no download \(id)", next: "weir list")
    }

    /// The asset that a request is about, with the title and the header fields that it gives it.
    private func open(_ request: API.DownloadRequest) async throws(ControlError) -> Asset {
        let fields = try Self.fields(request.headers)
        let isName = library.asset(named: request.source) != nil || !request.source.contains(":")
        let url: WebURL
        if let stream = library.stream(named: request.source) {
            url = stream.url
        } else {
            url = isName ? try find(request.source).origin : try Self.url(request.source)
        }
        do throws(LibraryError) {
            let asset = try await library.open(url, name: request.name, title: request.title, fields: fields)
            if let title = request.title { await library.entitle(asset, title) }
            return asset
        } catch {
            throw ControlError(error, asset: library.asset(at: url)?.name)
        }
    }

    private func preview(_ text: String, _ fields: UserFields = UserFields()) async throws(ControlError) -> Asset {
        let url = try Self.url(text)
        do throws(LibraryError) {
            return try await library.preview(url, fields: fields)
        } catch {
            throw ControlError(error)
        }
    }

    /// What a stream is that the user has written down, or the asset that there is of it.
    private func previewStream(named name: String, _ fields: UserFields) async throws(ControlError) -> Asset {
        guard let stream = library.stream(named: name), library.asset(at: stream.url) == nil else {
            return try find(name)
        }
        return try await preview(stream.url.text, fields)
    }

    private static func check(_ request: API.DownloadRequest) throws(ControlError) {
        if let contradiction = request.contradiction { throw ControlError(.badRequest, contradiction) }
    }

    /// The header fields of a request; nil where it says nothing of any.
    private static func fields(_ headers: [API.Header]?) throws(ControlError) -> UserFields? {
        guard let headers else { return nil }
        do {
            return try UserFields(headers.map(\.line))
        } catch {
            throw ControlError(.badRequest, error.description)
        }
    }

    static func url(_ text: String) throws(ControlError) -> WebURL {
        do {
            return try WebURL(text)
        } catch {
            throw ControlError(.refusedURL, "Weir does not fetch this URL: \(error)", underlying: error)
        }
    }

    // MARK: Shapes

    private func presentation(of asset: Asset, url: String) -> API.Presentation {
        var presentation = API.Presentation(
            url: url, duration: asset.duration, isLive: asset.isLive, tracks: AssetShapes(asset).tracks)
        presentation.name = library.asset(at: asset.origin)?.name
        presentation.title = asset.title
        return presentation
    }

    /// A download with what there is besides.
    private func whole(_ download: Download) -> API.Download {
        var shape = API.Download(download)
        shape.unselected = AssetShapes(download.asset).tracks(besides: download.ids)
        return shape
    }
}
