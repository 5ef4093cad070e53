public import Downloader
public import EventLoop
import HTTPMessage
public import Library
import Playlist

/// The control API's answers, from the library and its downloads.
@LoopActor public final class LibraryService: ControlService {
    private let library: Library
    private let downloader: Downloader

    /// A service over rooms that outlive it.
    public init(library: Library, downloader: Downloader) {
        self.library = library
        self.downloader = downloader
    }

    /// See `ControlService`.
    public func assets() async throws(ControlError) -> [API.Asset] { library.assets.map(shape) }

    /// See `ControlService`.
    public func asset(named name: String) async throws(ControlError) -> API.Asset { shape(try find(name)) }

    /// See `ControlService`.
    public func removeAsset(named name: String) async throws(ControlError) -> API.Removal {
        let asset = try find(name)
        downloader.forget(asset)
        do {
            return API.Removal(name: name, bytes: Int(try await library.remove(asset)))
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
        let selection = try Self.selection(request)
        let source = request.source
        let known = library.asset(named: source)
        let asset: Asset
        if let known { asset = known } else { asset = try await source.contains(":") ? preview(source) : find(source) }
        var presentation = presentation(of: asset, url: known == nil ? source : asset.origin.redacted)
        do throws(Selection.NoMatch) {
            presentation.explanation = try AssetShapes(asset).explanation(of: selection)
        } catch {
            throw ControlError(.noMatch, error.description)
        }
        return presentation
    }

    /// See `ControlService`.
    public func download(_ request: API.DownloadRequest) async throws(ControlError) -> API.Download {
        let selection = try Self.selection(request)
        let asset = try await open(request)
        do throws(Downloader.Refusal) {
            let download = try await downloader.start(asset, DownloadOrder(selection))
            var shape = shape(download)
            shape.unselected = AssetShapes(asset).tracks(besides: download.ids)
            return shape
        } catch {
            throw ControlError(error, asset: asset.name, url: asset.origin.redacted)
        }
    }

    /// See `ControlService`.
    public func download(id: String) async throws(ControlError) -> API.Download {
        guard let asset = library.asset(id: id), let download = downloader.download(of: asset) else {
            throw ControlError(.noSuchDownload, "there is no download \(id)", next: "weir list")
        }
        return shape(download)
    }

    // MARK: Finding

    private func find(_ name: String) throws(ControlError) -> Asset {
        if let asset = library.asset(named: name) ?? (try? WebURL(name)).flatMap({ library.asset(at: $0) }) {
            return asset
        }
        throw ControlError(.noSuchAsset, "there is no asset called \(name)", next: "weir list")
    }

    private func open(_ request: API.DownloadRequest) async throws(ControlError) -> Asset {
        if let known = library.asset(named: request.source) { return known }
        guard request.source.contains(":") else { return try find(request.source) }
        let url = try Self.url(request.source)
        do throws(LibraryError) {
            return try await library.open(url, name: request.name, title: request.title)
        } catch {
            throw ControlError(error)
        }
    }

    private func preview(_ text: String) async throws(ControlError) -> Asset {
        let url = try Self.url(text)
        do throws(LibraryError) {
            return try await library.preview(url)
        } catch {
            throw ControlError(error)
        }
    }

    private static func selection(_ request: API.DownloadRequest) throws(ControlError) -> Selection {
        if let contradiction = request.contradiction { throw ControlError(.badRequest, contradiction) }
        return Selection(request)
    }

    private static func url(_ text: String) throws(ControlError) -> WebURL {
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

    private func shape(_ asset: Asset) -> API.Asset {
        let download = downloader.download(of: asset)
        let shapes = AssetShapes(asset)
        var shape = API.Asset(
            name: asset.name, id: asset.id, title: asset.title, url: asset.origin.redacted, duration: asset.duration)
        shape.isLive = asset.isLive
        shape.bytes = Int(asset.bytes)
        shape.hasChanged = asset.hasChanged ? true : nil
        let isComplete = download.map(\.isWhole) ?? asset.isPlayableOffline
        shape.local = isComplete ? .complete : asset.bytes > 0 ? .partly : .none
        shape.state = download.map(Self.state)
        shape.download = download.map { $0.asset.id }
        shape.tracks = shapes.tracks
        return shape
    }

    private func shape(_ download: Download) -> API.Download {
        let asset = download.asset
        let progress = download.progress
        var shape = API.Download(id: asset.id, asset: asset.name, title: asset.title)
        shape.state = Self.state(download)
        shape.stage = shape.state.isFinal ? nil : progress.stage?.rawValue
        shape.loaded = progress.loaded.ranges.map { API.Download.TimeRange(start: $0.lowerBound, end: $0.upperBound) }
        shape.duration = progress.duration > 0 ? progress.duration : nil
        shape.bytes = Int(progress.bytes)
        shape.totalBytes = Int(progress.totalBytes)
        if let rate = download.bytesPerSecond {
            shape.rate = Int(rate)
            shape.eta = rate > 0 ? Int(Double(progress.totalBytes - progress.bytes) / rate) : nil
        }
        shape.selection = AssetShapes(asset).tracks(of: download.ids)
        shape.error = download.failure.map {
            API.Download.Failure(code: ControlError.Code(stored: $0.code), message: $0.message)
        }
        return shape
    }

    private static func state(_ download: Download) -> API.Download.State {
        switch download.state {
        case .queued: .queued
        case .running: .running
        case .paused: .paused
        case .waiting: .waiting
        case .failed: .failed
        case .cancelled: .cancelled
        // The disk decides: pieces may have been lost since.
        case .complete: download.isWhole ? .complete : .failed
        }
    }
}
