import EventLoop
import Fetching
import HTTPMessage
import Playlist
import Store

/// Recordings of live playlists: begun, gone on with, and ended.
extension Library {
    /// Begins the recording of a rendition, or goes on with what was recorded. From now on the pieces of its segments
    /// are kept, whoever asks for them.
    ///
    /// - Returns: nil where it has ended and pieces of it are stored: an ordinary download brings the rest.
    /// - Throws: `store` when nothing can be kept, `notPlaylist` for what needs a content decryption module.
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
        // It begins with all that the text lists that is known now.
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

    /// The rendition's live playlist, as soon as it is due again: by then somebody else may have asked for it.
    public func nextSource(of rendition: Rendition, in asset: Asset) async throws(LibraryError) -> Rendition.Source {
        let wait = rendition.schedule.wait(now: .now)
        // Not a poll: before that the origin must not be asked (RFC 8216 §6.3.4).
        if wait > .zero { try? await Task.sleep(for: wait) }
        return try await source(of: rendition, in: asset)
    }

    /// Notes the numbers of keys that were met: only then can the keys be kept.
    public func noteKeys(of asset: Asset) async {
        guard !asset.keys.unsaved(of: asset.id).isEmpty else { return }
        await saveRecord(of: asset)
    }

    /// Lets recordings rest: what is in their texts stays, and `record` goes on behind it.
    public func rest(_ renditions: [Rendition], of asset: Asset) {
        for rendition in renditions {
            guard let recording = rendition.recording else { continue }
            rendition.recording = nil
            if recording.count > 0 {
                rendition.recording = newRecording(of: rendition, in: asset, text: recording.text)
            }
        }
    }

    /// Ends recordings, all at once: from now on the asset is what was recorded of it, as any other that is stored.
    ///
    /// - Returns: whether anything was recorded.
    /// - Throws: `store` when the end cannot be written; the recordings go on then.
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
        // The bundle has its text.
        rendition.isSaved = true
    }

    // MARK: Restoring

    /// Takes back what an earlier process recorded.
    func restoreRecording(of id: String, in asset: Asset) {
        if asset.entry == nil, id == RenditionNaming.lone.id { asset.adoptLone() }
        guard let rendition = asset.rendition(id), let text = rendition.folder.read(Recording.file) else { return }
        let recording = newRecording(of: rendition, in: asset, text: text)
        guard let source = recording.source else { return }
        if source.isDurable { return finish(rendition, source) }
        // A text that was noted before it turned out that it is recorded.
        if rendition.source != nil { rendition.forget() }
        rendition.recording = recording
    }
}

extension Asset {
    /// Whether a live stream's recording has been begun, and not ended.
    public var isRecording: Bool { renditions.contains { $0.recording != nil } }

    /// Whether it is what was recorded of a live stream that has ended, or that it was enough of.
    public var isRecorded: Bool { renditions.contains { $0.source?.isRecorded ?? false } }

    /// The places in `renditionURIs` of the renditions of which something is recorded.
    public var recordedRenditions: Set<Int> {
        Set(renditions.indices.filter { renditions[$0].recording.map { $0.count > 0 } ?? renditions[$0].isWhole })
    }
}

extension Rendition {
    /// The URI of a key in a recording's text.
    nonisolated static func recordedKey(_ number: Int) -> String { "../keys/\(number).key" }

    /// The number of the key at such a URI.
    nonisolated static func number(ofRecordedKey uri: String) -> Int? {
        guard uri.hasPrefix("../keys/"), case .key(let number)? = PieceName(String(uri.dropFirst(8)))?.role else {
            return nil
        }
        return number
    }
}
