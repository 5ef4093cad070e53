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
        let asset: Asset
        do {
            asset = try await library.preview(try Self.url(text))
        } catch let error as LibraryError {
            throw ControlError(error)
        } catch {
            throw error as? ControlError ?? ControlError(.internal, "\(error)")
        }
        var presentation = API.Presentation(
            url: text, duration: asset.duration, isLive: asset.isLive, tracks: AssetShapes(asset).tracks)
        presentation.name = library.asset(at: asset.origin)?.name
        presentation.title = asset.title
        return presentation
    }

    /// See `ControlService`.
    public func download(_ request: API.DownloadRequest) async throws(ControlError) -> API.Download {
        let asset = try await open(request)
        do throws(Downloader.Refusal) {
            return shape(try await downloader.start(asset, Selection(request)))
        } catch {
            throw ControlError(error, url: asset.origin.redacted)
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

    private static func url(_ text: String) throws(ControlError) -> WebURL {
        do {
            return try WebURL(text)
        } catch {
            throw ControlError(.refusedURL, "Weir does not fetch this URL: \(error)", underlying: error)
        }
    }

    // MARK: Shapes

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
        shape.stage = shape.state.isFinal ? nil : progress.stage
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
        case .running: .running
        case .waiting: .waiting
        case .failed: .failed
        // The disk decides: pieces may have been lost since.
        case .complete: download.isWhole ? .complete : .failed
        }
    }
}

extension Selection {
    fileprivate init(_ request: API.DownloadRequest) {
        let quality: Quality =
            switch request.quality {
            case .best: .best
            case .worst: .worst
            case .height(let height): .height(height)
            case .heightAtMost(let height): .heightAtMost(height)
            case .minimumBandwidth(let least): .minimumBandwidth(least)
            }
        self.init(quality: quality, audio: Choice(request.audio), subtitles: Choice(request.subtitles))
    }
}

extension Selection.Choice {
    fileprivate init(_ choice: API.Choice) {
        switch choice {
        case .default: self = .default
        case .all: self = .all
        case .none: self = .none
        case .languages(let languages): self = .languages(languages)
        }
    }
}
