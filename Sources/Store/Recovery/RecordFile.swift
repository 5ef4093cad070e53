import Foundation

/// The text of `records/<asset id>.<revision>.json`: a copy of an asset's rows, from which a damaged or missing catalogue is
/// rebuilt. It contains tokens and header fields, so it is not part of the bundle, which people pass on. Pure.
///
/// The first line has all rows at one time. Each other line has those that one later transaction has changed, so that a record
/// does not have to be written again for each key that is added to many. Each line is JSON with a checksum of its own.
struct RecordFile {
    enum Failure: Error, CustomStringConvertible {
        case unreadable(any Error)
        /// A format of a newer Weir.
        case format(Int)
        case changed

        var description: String {
            switch self {
            case .unreadable(let error): "it is not a record: \(error)"
            case .format(let number): "it is of format \(number), which a newer Weir writes"
            case .changed: "its rows do not match their checksum"
            }
        }
    }

    private static let format = 1

    private struct Head: Decodable {
        let format: Int
    }

    private struct Line: Codable {
        var format = RecordFile.format
        let revision: Int
        let sum: String
        let asset: AssetRecord?
        let without: [String]?
        let playlists: [PlaylistText]?
        let keys: [KeyRecord]?
        let downloads: [DownloadRecord]?
        let recordings: [RecordingRecord]?
        let storage: [StorageRecord]?
        let volumes: [VolumeRecord]?

        init(_ change: AssetChange) {
            let contents = change.contents
            revision = change.revision
            sum = change.sum.description
            asset = contents.assets.first
            without = Self.present(change.without)
            playlists = Self.present(contents.playlists.map(PlaylistText.init))
            keys = Self.present(contents.keys)
            downloads = Self.present(contents.downloads)
            recordings = Self.present(contents.recordings)
            storage = Self.present(contents.storage)
            volumes = Self.present(contents.volumes)
        }

        private static func present<Row>(_ rows: [Row]) -> [Row]? {
            guard !rows.isEmpty else { return nil }
            return rows
        }

        /// The change of the asset `id`.
        func change(of id: String) -> AssetChange {
            let contents = Catalogue.Contents(
                assets: [asset].compactMap(\.self),
                playlists: playlists?.map(\.record) ?? [],
                keys: keys ?? [],
                downloads: downloads ?? [],
                recordings: recordings ?? [],
                storage: storage ?? [],
                volumes: volumes ?? [])
            return AssetChange(asset: id, revision: revision, without: without ?? [], contents: contents)
        }
    }

    /// A playlist with its body as text, or as Base64 if it is not UTF-8.
    private struct PlaylistText: Codable {
        let asset, rendition, url: String
        let text: String?
        let bytes: Data?
        let imports: [String: String]?
        let fetched: Int64
        let wasLive: Bool?

        init(_ record: PlaylistRecord) {
            asset = record.asset
            rendition = record.rendition
            url = record.url
            imports = record.imports
            fetched = record.fetched
            wasLive = record.wasLive
            text = String(validating: record.body, as: UTF8.self)
            if text == nil {
                bytes = Data(record.body)
            } else {
                bytes = nil
            }
        }

        var record: PlaylistRecord {
            PlaylistRecord(
                asset: asset, rendition: rendition, url: url, body: body, imports: imports, fetched: fetched,
                wasLive: wasLive)
        }

        private var body: [UInt8] {
            if let text {
                return Array(text.utf8)
            }
            return Array(bytes ?? Data())
        }
    }

    /// The text of a new record.
    static func encode(_ rows: AssetRows) throws -> [UInt8] {
        try encode(AssetChange(asset: rows.asset.id, revision: rows.revision, contents: rows.contents))
    }

    /// The line of a later change.
    static func encode(_ change: AssetChange) throws -> [UInt8] {
        var change = change
        change.contents.keepLatest()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(Line(change))) + Array("\n".utf8)
    }

    /// Decodes a text, whose first line must be complete and match its checksum. Lines from the first one on that is damaged, or that
    /// the end of the process has cut, are ignored: the revision says which was the last.
    static func decode(_ bytes: [UInt8]) throws(Failure) -> AssetRows {
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        let first = try line(lines.first ?? [])
        guard let asset = first.asset else { throw .changed }
        var contents = first.change(of: asset.id).contents
        let rows = AssetRows(revision: first.revision, asset: asset, contents)
        guard contents.isOnly(of: asset.id), rows.match(first.sum) else { throw .changed }
        var revision = first.revision
        for text in lines.dropFirst() {
            guard let line = try? line(text), line.revision == revision + 1 else { break }
            let change = line.change(of: asset.id)
            guard change.contents.isOnly(of: asset.id), RowSum(line.sum) == change.sum else { break }
            if !change.without.isEmpty {
                contents.playlists.removeAll { change.without.contains($0.rendition) }
            }
            contents.append(change.contents)
            revision = change.revision
        }
        contents.keepLatest()
        return AssetRows(revision: revision, asset: contents.assets.last ?? asset, contents)
    }

    private static func line(_ text: [UInt8].SubSequence) throws(Failure) -> Line {
        do {
            let data = Data(text)
            let format = try JSONDecoder().decode(Head.self, from: data).format
            guard format == Self.format else { throw Failure.format(format) }
            return try JSONDecoder().decode(Line.self, from: data)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw .unreadable(error)
        }
    }
}
