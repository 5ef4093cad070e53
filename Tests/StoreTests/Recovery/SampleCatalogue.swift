import Foundation
import Orders

@testable import Store

/// Realistic assets: long playlists, keys, tokens, downloads, a revision.
enum SampleCatalogue {
    /// Rows of several assets, and of a revision of asset 0.
    static func contents(_ range: Range<Int>, segments: Int = 80) -> Catalogue.Contents {
        Catalogue.Contents(of: range.map { rows($0, segments: segments) } + (range.contains(0) ? [revision] : []))
    }

    /// All rows of an asset, with revision 1.
    static func rows(_ number: Int, segments: Int = 80) -> AssetRows {
        let id = "film-\(number)-k3f9"
        let isOdd = number % 2 == 1
        return AssetRows(
            revision: 1,
            asset: AssetRecord(
                id: id, name: "film-\(number)", title: isOdd ? "Film № \(number)\n\"é\"" : nil,
                origin: "https://cdn.example/\(number)/master.m3u8?token=\(number)", created: Int64(1000 + number),
                fields: isOdd ? "Authorization: Bearer \(number)" : nil, fromNetwork: isOdd ? true : nil,
                route: isOdd ? "{\"isInsecure\":true}" : nil),
            belongings: Catalogue.Contents(
                playlists: ["", "video-1080p", "video-360p", "audio-en"].map { playlist(of: id, $0, segments) },
                keys: (0..<number % 3).map {
                    KeyRecord(asset: id, number: $0, url: "https://keys.example/\(number)/\($0)", key)
                },
                downloads: isOdd
                    ? [
                        DownloadRecord(
                            asset: id, renditions: "video-1080p audio-en", state: "failed", task: "{\"version\":1}",
                            need: "space", errorCode: "missing", errorMessage: "gone", created: Int64(2000 + number))
                    ] : [],
                recordings: isOdd ? [RecordingRecord(asset: id, rendition: "video-360p")] : [],
                storage: isOdd ? [StorageRecord(asset: id, life)] : [],
                volumes: isOdd ? [VolumeRecord(asset: id, in: volume, other: number % 4 == 1 ? volume : nil)] : []))
    }

    static var key: KeyLife {
        var key = KeyLife()
        key.came = 5100
        key.firstPlayed = 5200
        key.expires = 9100
        key.dated = 5300
        key.expiredAt = 9200
        key.revoked = 9300
        key.digest = Digest(hexadecimal: String(repeating: "0a", count: 32).utf8)
        return key
    }

    static let summary: SummaryRecord = {
        var summary = SummaryRecord(
            asset: "film-1-k3f9", version: 3, local: "partial", isLive: false, duration: 12.5, bytes: 7, cachedBytes: 2,
            hasArtwork: true, quality: "720p", tracks: "{}")
        summary.revision = 1
        summary.stamp = "a stamp"
        return summary
    }()

    private static let volume = Volume(path: "/nowhere/\"é\"", mark: "0123")

    private static var life: StorageLife {
        var life = StorageLife()
        life.policy = StoragePolicy(
            expires: 9000, afterFirstPlay: 3600, priority: .important, backup: .include,
            keys: KeyTerms(lifetime: 30, afterFirstPlay: 48))
        life.firstPlayed = 5000
        life.lastPlayed = 6000
        life.purge = Purge(date: 7000, bytes: 8000, cause: .space)
        return life
    }

    private static var revision: AssetRows {
        var rows = rows(0, segments: 3)
        rows.asset.id = "film-0-new2"
        rows.asset.revises = "film-0-k3f9"
        rows.belongings = Catalogue.Contents(playlists: [playlist(of: "film-0-new2", "", 3)])
        return rows
    }

    private static func playlist(of id: String, _ rendition: String, _ segments: Int) -> PlaylistRecord {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n"
        for number in 0..<segments {
            text += "#EXTINF:6.006,\n\(rendition)/segment-\(number).m4s?sig=\(number * 7919)\n"
        }
        return PlaylistRecord(
            asset: id, rendition: rendition, url: "https://cdn.example/\(id)/\(rendition).m3u8",
            // Also one that is not UTF-8.
            body: Array(text.utf8) + (rendition == "audio-en" ? [0xFF, 0] : []),
            imports: rendition == "video-360p" ? ["t": "a\",b", "u": ""] : nil, fetched: 5,
            wasLive: rendition == "audio-en" ? true : nil)
    }
}

extension Catalogue.Contents {
    /// The rows sorted by their keys: the database returns them in any order.
    var sorted: Self {
        var contents = self
        contents.assets.sort { $0.id < $1.id }
        contents.playlists.sort { ($0.asset, $0.rendition) < ($1.asset, $1.rendition) }
        contents.keys.sort { ($0.asset, $0.number) < ($1.asset, $1.number) }
        contents.downloads.sort { $0.asset < $1.asset }
        contents.recordings.sort { ($0.asset, $0.rendition) < ($1.asset, $1.rendition) }
        contents.storage.sort { $0.asset < $1.asset }
        contents.volumes.sort { $0.asset < $1.asset }
        return contents
    }
}
