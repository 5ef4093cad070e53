import Assets
import EventLoop
import Extras
import Fetching
import HLS
import HTTPMessage
import Store

/// Gathers the parts of an asset that are exported.
@LoopActor struct AssetExport {
    let asset: Asset

    /// The complete renditions at this moment: playlists, their pieces with ledgers, keys, session data, artwork and
    /// `asset.json`. Nothing from the catalogue, which has tokens and header fields.
    ///
    /// - Throws: `incomplete` if no rendition is complete, `store` if a folder cannot be read.
    func contents() async throws(ExchangeError) -> ExportContents {
        let playlists = BundlePlaylists(asset)
        for rendition in asset.renditions where rendition.isLong {
            await rendition.readCompleteness()
            await rendition.readPeakBitRate()
        }
        do {
            guard let master = try playlists.master() else {
                guard let expiry = asset.keyExpiry else { throw incompleteError }
                throw ExchangeError(expiry)
            }
            let listed = master.renditions.sorted().map { asset.renditions[$0] }
            var folders: [ExportContents.Folder] = []
            let all = listed + asset.content.additions.sorted.filter(\.isComplete)
            for rendition in all {
                folders.append(try await exportFolder(of: rendition, playlists))
            }
            let keyFiles = all.flatMap(\.keyFiles).map { "\(asset.keys.folder.id)/\($0)" }
            let more = master.files + keyFiles
            for folder in [asset.keys.folder, asset.content.sessionData.folder] {
                let files = Set(
                    more.filter { $0.hasPrefix(folder.id + "/") }.map { String($0.dropFirst(folder.id.utf8.count + 1)) }
                )
                if !files.isEmpty {
                    folders.append(try folder.exported(files.sorted()))
                }
            }
            let interstitials = StoredInterstitials(of: asset).texts.map { ExportContents.Text($0.file, $0.bytes) }
            if !interstitials.isEmpty {
                let folder = try asset.bundle.directory(create: false).subdirectory(Interstitials.folder)
                folders.append(.init(Interstitials.folder, beside: folder, texts: interstitials))
            }
            return ExportContents(folders: folders, texts: try exportTexts(playlists, master: master.text))
        } catch let error as ExchangeError {
            throw error
        } catch let error as StoreError {
            throw ExchangeError(error, about: "\(asset.name) is not exported")
        } catch {
            throw ExchangeError(.incomplete, "\(asset.name) is not exported: \(error)", underlying: error)
        }
    }

    /// `contents()`, after every piece was verified that is not known to be sound as it is now.
    ///
    /// - Throws: as `contents()`; `incomplete` if a piece is damaged: it is a hole from then on.
    func verifiedContents() async throws(ExchangeError) -> ExportContents {
        var contents = try await contents()
        let folders = Dictionary(asset.folders.map { ($0.id, $0) }) { first, _ in first }
        for index in contents.folders.indices {
            guard let folder = folders[contents.folders[index].name] else { continue }
            let names = contents.folders[index].files.map(\.name)
            let verified = await folder.verifiedIdentities(of: names)
            // Each name is listed once.
            let isSound = verified.count == names.count
            guard !isSound, let lost = names.first(where: { verified[$0] == nil }) else {
                contents.folders[index].verified = verified
                continue
            }
            throw ExchangeError(
                .incomplete,
                "\(asset.name) is not exported: \(folder.id)/\(lost) is not as the origin sent it any more; fetch it again with: "
                    + "weir verify \(asset.name) --repair")
        }
        return contents
    }

    private var incompleteError: ExchangeError {
        ExchangeError(.incomplete, "\(asset.name) is not exported: no rendition of it is complete")
    }

    /// Lists the files of a folder, which may be a million, on a worker.
    private func exportFolder(
        of rendition: Rendition, _ playlists: BundlePlaylists
    ) async throws -> ExportContents.Folder {
        guard let source = rendition.source, let listing = rendition.listing else { throw incompleteError }
        let folder = rendition.folder
        let pieces = try folder.pieces()
        let names = playlists.names(in: source, of: rendition)
        let sizes = folder.sizes
        let made = await PureWork.shared.run(size: 64 * source.playlist.segments.count, for: rendition) {
            let text = Result { try names.text(of: source.playlist, as: .bundle) }
            // Beside the media: chapters in JSON, and the times of thumbnails.
            let data = sizes.keys.filter {
                if case .data? = PieceName($0)?.role {
                    true
                } else {
                    false
                }
            }
            return (text: text, files: PieceFolder.exported(listing.files + data.sorted(), sizes))
        }
        guard let made else { throw incompleteError }
        let text = ExportContents.Text("media.m3u8", try made.text.get())
        return ExportContents.Folder(folder.id, pieces, files: made.files, texts: [text])
    }

    private func exportTexts(_ playlists: BundlePlaylists, master: [UInt8]) throws -> [ExportContents.Text] {
        var texts: [ExportContents.Text] = []
        if let kind = asset.content.additions.artwork,
            let bytes = try asset.bundle.directory(create: false).read(kind.fileName)
        {
            texts.append(.init(kind.fileName, bytes))
        }
        texts.append(.init("asset.json", try playlists.identity()))
        texts.append(.init("master.m3u8", master))
        return texts
    }
}

/// The files of a rendition, to be listed. Pure.
struct MediaListing: Sendable {
    let sections: [String]
    let segments: Segments
    /// The segments' names, by index.
    let names: [String]
    /// The indices of segments of subtitles that the origin does not have.
    let givenUp: Set<Int>

    /// The initialization sections and the segments, each once, without gaps and without what the origin does not have.
    var files: [String] {
        var seen: Set<String> = []
        var files = sections.filter { seen.insert($0).inserted }
        for segment in segments where !segment.isGap && !givenUp.contains(segment.index) {
            let file = names[segment.index]
            if seen.insert(file).inserted {
                files.append(file)
            }
        }
        return files
    }
}

extension Rendition {
    /// Nil unless the playlist has ended.
    var listing: MediaListing? {
        guard let source, source.isDurable else { return nil }
        let playlist = source.playlist
        return MediaListing(
            sections: playlist.maps.map { name(of: $0).description }, segments: playlist.segments, names: segmentFiles,
            givenUp: givenUpIndices)
    }

    /// Initialization sections and segments, each once, without segments of subtitles that the origin does not have.
    var mediaFiles: [String] { listing?.files ?? [] }

    var keyFiles: Set<String> {
        let keys = source?.playlist.usedKeys ?? []
        let numbers = keys.compactMap { number(of: $0) }
        return Set(numbers.map { KeyRing.name($0).description })
    }
}

extension PieceFolder {
    fileprivate func exported(_ files: [String]) throws(StoreError) -> ExportContents.Folder {
        ExportContents.Folder(id, try pieces(), files: Self.exported(files, sizes), texts: [])
    }

    /// The lengths of files. A piece that is gone meanwhile has none: no file has the length -1, so that opening it fails.
    fileprivate nonisolated static func exported(
        _ files: [String], _ sizes: PieceTable<Int64>
    ) -> [(name: String, size: Int64)] {
        files.map { ($0, sizes[$0, default: -1]) }
    }
}
