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
    func contents() throws(ExchangeError) -> ExportContents {
        let playlists = BundlePlaylists(asset)
        do {
            guard let master = try playlists.master() else {
                guard let expiry = asset.keyExpiry else { throw incompleteError }
                throw ExchangeError(expiry)
            }
            let listed = master.renditions.sorted().map { asset.renditions[$0] }
            var folders: [ExportContents.Folder] = []
            let all = listed + asset.content.additions.sorted.filter(\.isComplete)
            for rendition in all {
                folders.append(try exportFolder(of: rendition, playlists))
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
        var contents = try contents()
        let folders = Dictionary(asset.folders.map { ($0.id, $0) }) { first, _ in first }
        for index in contents.folders.indices {
            guard let folder = folders[contents.folders[index].name] else { continue }
            let names = contents.folders[index].files.map(\.name)
            let verified = await folder.verifiedIdentities(of: names)
            guard let lost = names.first(where: { verified[$0] == nil }) else {
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

    private func exportFolder(of rendition: Rendition, _ playlists: BundlePlaylists) throws -> ExportContents.Folder {
        guard let source = rendition.source else { throw incompleteError }
        let text = ExportContents.Text("media.m3u8", try playlists.media(source, of: rendition))
        // Beside the media: chapters in JSON, and the times of thumbnails.
        let data = rendition.folder.sizes.keys.filter {
            if case .data? = PieceName($0)?.role {
                true
            } else {
                false
            }
        }
        return try rendition.folder.exported(rendition.mediaFiles + data.sorted(), texts: [text])
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

extension Rendition {
    /// Initialization sections and segments, each once, without segments of subtitles that the origin does not have.
    var mediaFiles: [String] {
        guard let playlist = source?.playlist else { return [] }
        var seen: Set<String> = []
        let files =
            playlist.maps.map { name(of: $0).description }
            + playlist.segments.filter { !$0.isGap && !isWithoutCues($0) }.map { file(of: $0) }
        return files.filter { seen.insert($0).inserted }
    }

    var keyFiles: Set<String> {
        let keys = source?.playlist.usedKeys ?? []
        let numbers = keys.compactMap { number(of: $0) }
        return Set(numbers.map { KeyRing.name($0).description })
    }
}

extension PieceFolder {
    fileprivate func exported(
        _ files: [String], texts: [ExportContents.Text] = []
    ) throws(StoreError) -> ExportContents.Folder {
        let pieces = try self.pieces()
        let sizes = self.sizes
        // A piece that is gone meanwhile has no size. No file has the length -1, so that opening it fails.
        let listed = files.map { file in
            (file, sizes[file] ?? -1)
        }
        return ExportContents.Folder(id, pieces, files: listed, texts: texts)
    }
}
