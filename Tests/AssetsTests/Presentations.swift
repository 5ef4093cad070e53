import Foundation
import HLS
import TestSupport

/// Multivariant playlists to choose from.
enum Presentations {
    /// The fixture with three qualities, two languages and subtitles.
    static func cmaf() throws -> MultivariantPlaylist {
        try parse([UInt8](Repository.fixture("/cmaf/master.m3u8")))
    }

    /// A playlist of these lines, without `#EXTM3U`.
    static func of(_ lines: String...) throws -> MultivariantPlaylist {
        try of(lines: lines)
    }

    static func of(lines: [String]) throws -> MultivariantPlaylist {
        try parse(Array((["#EXTM3U"] + lines).joined(separator: "\n").utf8))
    }

    /// Five variants with different sizes, codecs, ranges and audio; three share one video in 1080p.
    ///
    /// In order: 360p avc1 stereo, 1080p avc1 stereo, 1080p avc1 5.1, 1080p hvc1 SDR, 2160p hvc1 PQ.
    static func cinema() throws -> MultivariantPlaylist {
        try of(
            sound("aac", "de", "Deutsch", "2", "AUTOSELECT=YES", "aac-de"),
            sound("aac", "en", "English", "2", "DEFAULT=YES", "aac-en"),
            sound("aac", "en", "For the blind", "2", described, "aac-ad"),
            sound("aac", "fr", "Commentaire", "2", "AUTOSELECT=NO", "aac-fr"),
            sound("ac3", "de", "Deutsch", "6", "AUTOSELECT=YES", "ac3-de"),
            sound("ac3", "en", "English", "6", "DEFAULT=YES", "ac3-en"),
            variant(1_000, 800, "640x360", "avc1.4d401e,mp4a.40.2", "FRAME-RATE=25,AUDIO=\"aac\""), "360",
            variant(5_000, 3_000, "1920x1080", "avc1.640028,mp4a.40.2", "FRAME-RATE=25,AUDIO=\"aac\""), "1080",
            variant(5_400, 3_400, "1920x1080", "avc1.640028,ac-3", "FRAME-RATE=25,AUDIO=\"ac3\""), "1080",
            variant(3_000, 2_900, "1920x1080", "hev1.1.6.L120,mp4a.40.2", "FRAME-RATE=50,AUDIO=\"aac\""), "1080h",
            variant(9_000, 7_000, "3840x2160", "hvc1.2.4.L150,mp4a.40.2", "VIDEO-RANGE=PQ,AUDIO=\"aac\""), "2160")
    }

    private static let described = "AUTOSELECT=YES,CHARACTERISTICS=\"public.accessibility.describes-video\""

    private static func sound(
        _ group: String, _ language: String, _ name: String, _ channels: String, _ more: String, _ uri: String
    ) -> String {
        "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"\(group)\",LANGUAGE=\"\(language)\",NAME=\"\(name)\","
            + "CHANNELS=\"\(channels)\",\(more),URI=\"\(uri)\""
    }

    /// Adds a variant; rates are in kb/s.
    private static func variant(
        _ peak: Int, _ average: Int, _ size: String, _ codecs: String, _ more: String
    ) -> String {
        "#EXT-X-STREAM-INF:BANDWIDTH=\(peak)000,AVERAGE-BANDWIDTH=\(average)000,RESOLUTION=\(size),"
            + "CODECS=\"\(codecs)\",\(more)"
    }

    private static func parse(_ text: [UInt8]) throws -> MultivariantPlaylist {
        guard case .multivariant(let playlist) = try Playlist.parse(text) else {
            throw TimedOut("a multivariant playlist")
        }
        return playlist
    }
}
