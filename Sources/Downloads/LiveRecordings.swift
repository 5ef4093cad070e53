public import Assets
public import EventLoop
import Fetching
import HLS
import Store

/// Starts, continues and ends recordings of live playlists.
@LoopActor public struct LiveRecordings {
    let library: Library

    /// Starts the recording of a rendition, or continues an earlier one. From now on the pieces of its segments are
    /// stored, even if only a player fetches them. Returns nil if the stream has ended and pieces of it are stored: an
    /// ordinary download fetches the rest. Throws `notPlaylist` if the stream needs a content decryption module.
    public func start(_ rendition: Rendition, of asset: Asset) async throws(LibraryError) -> Recording? {
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
        // The recording begins with everything that the known playlist lists.
        if let source = rendition.source {
            if source.isDurable {
                rendition.forget()
            }
            rendition.adopt(source)
        }
        return recording
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
