import EventLoop
import Fetching
import HTTPMessage
import Playlist
import Store

/// Starts, continues and ends recordings of live playlists.
extension Library {
    /// Starts the recording of a rendition, or continues an earlier one. From now on the pieces of its segments are
    /// stored, even if only a player fetches them.
    ///
    /// - Returns: nil if the stream has ended and pieces of it are stored: an ordinary download fetches the rest.
    /// - Throws: `store` if the store cannot be written, `notPlaylist` if the stream needs a content decryption module.
    public func record(_ rendition: Rendition, of asset: Asset) async throws(LibraryError) -> Recording? {
        if let readOnlyReason { throw LibraryError(readOnlyReason, about: "\(asset.name) cannot be recorded") }
        await moves?.waitForMove(of: asset)
        try checkPresence(of: asset)
        if rendition.recording == nil {
            let source = try await self.source(of: rendition, in: asset)
            if source.isDurable, source.isRecorded || rendition.folder.bytes > 0 { return nil }
        }
        if rendition.needsDRM {
            throw LibraryError(.notPlaylist, "\(asset.name) is protected (DRM): a recording could not be played")
        }
        guard await save(recordingOf: rendition, in: asset) else {
            throw asset.saveFailure.map { LibraryError($0, about: "\(asset.name) cannot be recorded") }
                ?? LibraryError(.missing, "\(asset.name) was removed")
        }
        let recording = rendition.recording ?? newRecording(of: rendition, in: asset)
        guard !recording.isActive else { return recording }
        recording.isActive = true
        rendition.recording = recording
        // The recording begins with everything that the known playlist lists.
        if let source = rendition.source {
            if source.isDurable { rendition.forget() }
            rendition.adopt(source)
        }
        return recording
    }

    private func newRecording(of rendition: Rendition, in asset: Asset, text: [UInt8] = []) -> Recording {
        Recording(of: rendition, base: asset.origin, text: text) { [weak asset, report, id = rendition.name.id] in
            report("\(asset?.name ?? "a removed asset"), \(id): \($0)")
        }
    }

    /// Returns the rendition's live playlist as soon as the next reload is due. A player may have loaded it by then.
    public func nextSource(of rendition: Rendition, in asset: Asset) async throws(LibraryError) -> Rendition.Source {
        let wait = rendition.schedule.wait(now: .now)
        // Not a poll: before that time the origin must not be asked (RFC 8216 §6.3.4).
        if wait > .zero { try? await Task.sleep(for: wait) }
        return try await source(of: rendition, in: asset)
    }

    /// Writes the numbers of new keys to the catalogue; only then can the keys be stored.
    public func noteKeys(of asset: Asset) async {
        guard !asset.keys.unsaved(of: asset.id).isEmpty else { return }
        await saveRecord(of: asset)
    }

    /// Pauses recordings. Their playlists keep what they contain, and `record` continues behind it.
    public func rest(_ renditions: [Rendition], of asset: Asset) {
        for rendition in renditions {
            guard let recording = rendition.recording else { continue }
            rendition.recording = nil
            if recording.count > 0 {
                rendition.recording = newRecording(of: rendition, in: asset, text: recording.text)
            }
        }
    }

    /// Ends several recordings at once. From now on the asset consists of the recorded media, like any other stored
    /// asset.
    ///
    /// - Returns: true if anything was recorded.
    /// - Throws: `store` if the end cannot be written; the recordings continue then.
    public func close(_ renditions: [Rendition], of asset: Asset) throws(LibraryError) -> Bool {
        var isAnythingThere = false
        for rendition in renditions {
            guard let recording = rendition.recording else { continue }
            do {
                let source = try recording.close()
                rendition.recording = nil
                guard let source else { continue }
                rendition.lastWindow = rendition.source.map { ($0, recording) }
                finish(rendition, source)
                isAnythingThere = true
            } catch {
                throw LibraryError(error, about: "the end of \(asset.name)'s recording is not written")
            }
        }
        publish(asset)
        return isAnythingThere
    }

    private func finish(_ rendition: Rendition, _ source: Rendition.Source) {
        rendition.adopt(source)
        // The bundle contains the text of the playlist.
        rendition.isSaved = true
    }

    // MARK: Restoring

    /// Restores the recording of an earlier process.
    func restoreRecording(of id: String, in asset: Asset) {
        if asset.entry == nil, id == RenditionNaming.lone.id { asset.adoptLone() }
        guard let rendition = asset.rendition(id), let text = rendition.folder.read(Recording.file) else { return }
        let recording = newRecording(of: rendition, in: asset, text: text)
        guard let source = recording.source else { return }
        if source.isDurable { return finish(rendition, source) }
        // The playlist was written to the catalogue before it was known to be a recording.
        if rendition.source != nil { rendition.forget() }
        rendition.recording = recording
    }
}

extension Asset {
    /// True if the recording of a live stream was started, and has not ended.
    public var isRecording: Bool { renditions.contains { $0.recording != nil } }

    /// True if the asset is the ended recording of a live stream.
    public var isRecorded: Bool { renditions.contains { $0.source?.isRecorded ?? false } }

    /// The places in `renditionURIs` of the renditions with recorded media.
    public var recordedRenditions: Set<Int> {
        Set(renditions.indices.filter { renditions[$0].recording.map { $0.count > 0 } ?? renditions[$0].isWhole })
    }
}

extension Rendition {
    /// The URI of a key in a recorded playlist.
    nonisolated static func recordedKey(_ number: Int) -> String { "../keys/\(number).key" }

    /// The number of the key at such a URI.
    nonisolated static func number(ofRecordedKey uri: String) -> Int? {
        guard uri.hasPrefix("../keys/"), case .key(let number)? = PieceName(String(uri.dropFirst(8)))?.role else {
            return nil
        }
        return number
    }
}
