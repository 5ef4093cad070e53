import Foundation

/// The text of `records/<asset id>.<revision>.json`: an asset's rows of the catalogue, from which they come back when that
/// is broken or gone.
///
/// It has what the catalogue has, tokens and header fields among it, and is therefore no part of the bundle, which
/// people hand on. Pure.
struct RecordFile {
    /// Why a text is not taken.
    enum Failure: Error, CustomStringConvertible {
        /// No JSON, or not that of a record.
        case unreadable(any Error)
        /// Of a format that this version does not know.
        case format(Int)
        /// What it says is not what was written.
        case changed

        /// In words for a log.
        var description: String {
            switch self {
            case .unreadable(let error): "it is no record: \(error)"
            case .format(let number): "it is of format \(number), which a newer Weir writes"
            case .changed: "it is not what was written"
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
        /// Nil in what a Weir wrote that knew no policies.
        let storage: [StorageRecord]?
        /// Nil where it was never moved.
        let places: [PlaceRecord]?
    }

    /// A playlist with its body as the text that it is; where it is none, as Base64.
    private struct PlaylistText: Codable {
        let asset, rendition, url: String
        let text: String?
        let bytes: Data?
        let imports: [String: String]?
        let fetched: Int64

        init(_ record: PlaylistRecord) {
            (asset, rendition, url) = (record.asset, record.rendition, record.url)
            (imports, fetched) = (record.imports, record.fetched)
            text = String(validating: record.body, as: UTF8.self)
            bytes = text == nil ? Data(record.body) : nil
        }

        var record: PlaylistRecord {
            PlaylistRecord(
                asset: asset, rendition: rendition, url: url,
                body: text.map { Array($0.utf8) } ?? Array(bytes ?? Data()),
                imports: imports, fetched: fetched)
        }
    }

    /// Writes the text of an asset's rows.
    static func encode(_ rows: AssetRows) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let belongings = rows.belongings
        return Array(
            try encoder.encode(
                Text(
                    revision: rows.revision, sum: rows.sum.description, asset: rows.asset,
                    playlists: belongings.playlists.map(PlaylistText.init), keys: belongings.keys,
                    downloads: belongings.downloads, recordings: belongings.recordings,
                    storage: belongings.storage, places: belongings.places.isEmpty ? nil : belongings.places)))
    }

    /// Reads a text, which must be whole and unchanged.
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
                    recordings: text.recordings, storage: text.storage ?? [], places: text.places ?? []))
        } catch let failure as Failure {
            throw failure
        } catch {
            throw .unreadable(error)
        }
        guard rows.isOfOneAsset, rows.sum.description == sum else { throw .changed }
        return rows
    }
}
