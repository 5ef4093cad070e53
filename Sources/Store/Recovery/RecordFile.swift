import Foundation

/// The text of `records/<asset id>.<revision>.json`: a copy of an asset's rows, from which a damaged or missing catalogue is
/// rebuilt. It contains tokens and header fields, so it is not part of the bundle, which people pass on. Pure.
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

    private struct Text: Codable {
        var format = RecordFile.format
        let revision: Int
        let sum: String
        let asset: AssetRecord
        let playlists: [PlaylistText]
        let keys: [KeyRecord]
        let downloads: [DownloadRecord]
        let recordings: [RecordingRecord]
        let storage: [StorageRecord]
        let volumes: [VolumeRecord]
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
            bytes = text == nil ? Data(record.body) : nil
        }

        var record: PlaylistRecord {
            PlaylistRecord(
                asset: asset, rendition: rendition, url: url,
                body: text.map { Array($0.utf8) } ?? Array(bytes ?? Data()),
                imports: imports, fetched: fetched, wasLive: wasLive)
        }
    }

    static func encode(_ rows: AssetRows) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let belongings = rows.belongings
        return Array(
            try encoder.encode(
                Text(
                    revision: rows.revision, sum: rows.contents.sum.description, asset: rows.asset,
                    playlists: belongings.playlists.map(PlaylistText.init), keys: belongings.keys,
                    downloads: belongings.downloads, recordings: belongings.recordings,
                    storage: belongings.storage, volumes: belongings.volumes)))
    }

    /// Decodes a text, which must be complete and match its checksum.
    static func decode(_ bytes: [UInt8]) throws(Failure) -> AssetRows {
        let rows: AssetRows
        let sum: String
        do {
            let data = Data(bytes)
            let format = try JSONDecoder().decode(Head.self, from: data).format
            guard format == Self.format else { throw Failure.format(format) }
            let text = try JSONDecoder().decode(Text.self, from: data)
            sum = text.sum
            rows = AssetRows(
                revision: text.revision, asset: text.asset,
                belongings: Catalogue.Contents(
                    playlists: text.playlists.map(\.record), keys: text.keys, downloads: text.downloads,
                    recordings: text.recordings, storage: text.storage, volumes: text.volumes))
        } catch let failure as Failure {
            throw failure
        } catch {
            throw .unreadable(error)
        }
        guard rows.isOfOneAsset, rows.match(sum) else { throw .changed }
        return rows
    }
}
