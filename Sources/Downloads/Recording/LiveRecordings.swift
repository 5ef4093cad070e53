public import Assets
public import EventLoop
import Fetching
import HLS
package import Orders
import Store

/// Starts, continues and ends recordings of live playlists.
@LoopActor public struct LiveRecordings {
    let library: Library

    /// Starts the recording of a rendition, or continues an earlier one. From now on the pieces of its segments are
    /// stored, even if only a player fetches them. Returns nil if the stream has ended and pieces of it are stored: an
    /// ordinary download fetches the rest. Throws `notPlaylist` if the stream needs a content decryption module.
    /// - Parameter start: the beginning of a new one; nil for all that the origin lists.
    package func start(
        _ rendition: Rendition, of asset: Asset, from start: RecordingStart?
    ) async throws(LibraryError) -> Recording? {
        try library.checkWritable("\(asset.name) cannot be recorded")
        await library.moves?.waitForMove(of: asset)
        try library.volumes.checkPresence(of: asset)
        if rendition.recording == nil {
            let source = try await library.playlists.source(of: rendition, in: asset)
            if source.isDurable, source.isRecorded || rendition.folder.bytes > 0 {
                return nil
            }
        }
        if rendition.needsDRM {
            throw LibraryError(.notPlaylist, "\(asset.name) is protected (DRM): a recording could not be played")
        }
        guard await library.records.save(recordingOf: rendition, in: asset) else {
            throw asset.saveError(about: "\(asset.name) cannot be recorded")
        }
        let recording = rendition.recording as? Recording ?? make(of: rendition, in: asset)
        guard !recording.isActive else { return recording }
        recording.isActive = true
        rendition.recording = recording
        if var source = rendition.source {
            if source.isDurable {
                rendition.forget()
            }
            if let start, recording.isNew {
                source = longest(source, start, of: rendition, in: asset)
                recording.leavesOut = source.playlist.segmentsBefore(lastSeconds: start.seconds)
            }
            rendition.adopt(source)
        }
        return recording
    }

    /// Starts a recording with everything that the known playlist lists.
    public func start(_ rendition: Rendition, of asset: Asset) async throws(LibraryError) -> Recording? {
        try await start(rendition, of: asset, from: nil)
    }

    /// The beginning at which all renditions of a recording are there: more may be kept of one than of another.
    func commonStart(
        _ start: RecordingStart?, of renditions: [Rendition], in asset: Asset
    ) async throws(LibraryError) -> RecordingStart? {
        guard let start, start != .now, renditions.count > 1 else { return start }
        var least = Double.infinity
        for rendition in renditions where rendition.recording == nil {
            let source = try await library.playlists.source(of: rendition, in: asset)
            let longest = longest(source, start, of: rendition, in: asset)
            least = min(least, longest.playlist.duration.seconds)
        }
        guard least < start.seconds ?? .infinity else { return start }
        return .ago(Int64(max(1, least.rounded(.up))))
    }

    /// The playlist that lists the earliest segments which can be had of the channel.
    private func longest(
        _ source: Rendition.Source, _ start: RecordingStart, of rendition: Rendition, in asset: Asset
    ) -> Rendition.Source {
        guard start != .now, let channel = library.channel(of: asset), channel.isLoaded,
            var long = channel.rendition(rendition.name.id)?.live?.timeShift?.source
        else { return source }
        long.channelShift = long.shift
        return long
    }

    private func make(of rendition: Rendition, in asset: Asset, text: [UInt8] = []) -> Recording {
        Recording(of: rendition, base: asset.origin, text: text) {
            [weak asset, report = library.report, id = rendition.name.id] in
            report("\(asset?.name ?? "a removed asset"), \(id): \($0)")
        }
    }

    /// Pauses recordings. Their playlists keep what they contain, and `start` continues behind it.
    public func pause(_ renditions: [Rendition], of asset: Asset) {
        for rendition in renditions {
            guard let recording = rendition.recording as? Recording else { continue }
            rendition.recording = recording.count > 0 ? make(of: rendition, in: asset, text: recording.text) : nil
        }
    }

    /// Ends several recordings at once, which become ordinary stored media. Returns true if anything was recorded;
    /// throws `store` if the end cannot be written, and the recordings continue then.
    public func close(_ renditions: [Rendition], of asset: Asset) throws(LibraryError) -> Bool {
        var isAnythingThere = false
        for rendition in renditions {
            guard let recording = rendition.recording as? Recording else { continue }
            do {
                let source = try recording.close()
                rendition.recording = nil
                guard let source else { continue }
                finish(rendition, source)
                isAnythingThere = true
            } catch {
                throw LibraryError(error, about: "the end of \(asset.name)'s recording is not written")
            }
        }
        library.publish(asset)
        return isAnythingThere
    }

    private func finish(_ rendition: Rendition, _ source: Rendition.Source) {
        rendition.adopt(source)
        // The bundle contains the text of the playlist.
        rendition.isSaved = true
    }

    fileprivate func restore(_ id: String, in asset: Asset) {
        if asset.content.entry == nil, id == RenditionNaming.lone.id {
            asset.content.adoptLone()
        }
        guard let rendition = asset.rendition(id), let text = rendition.folder.read(Recording.file) else { return }
        let recording = make(of: rendition, in: asset, text: text)
        guard let source = recording.source else { return }
        if source.isDurable {
            return finish(rendition, source)
        }
        // The playlist was written to the catalogue before it was known to be a recording.
        if rendition.source != nil {
            rendition.forget()
        }
        rendition.recording = recording
    }
}

extension MediaPlaylist {
    /// The number of segments in front of those that are at least so long, from the end; 0 for nil.
    fileprivate func segmentsBefore(lastSeconds seconds: Double?) -> Int {
        guard let seconds else { return 0 }
        var left = seconds
        for segment in segments.reversed() {
            guard left > 0.001 else { return segment.index + 1 }
            left -= segment.duration.seconds
        }
        return 0
    }
}

extension Library {
    /// Records live playlists.
    public var recordings: LiveRecordings { LiveRecordings(library: self) }
}

/// Restores the recordings of an earlier process for a library.
public struct RecordingRestorer: StoredRecordings {
    /// Makes a restorer.
    public init() {}

    /// Restores the recording from its playlist in the rendition's folder.
    public func restoreRecording(of rendition: String, in asset: Asset, _ library: Library) {
        library.recordings.restore(rendition, in: asset)
    }
}
