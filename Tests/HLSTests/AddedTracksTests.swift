import HLS
import Testing

@Suite struct AddedTracksTests {
    private func added(_ tracks: AddedTracks, to text: String) throws -> [String] {
        let bytes = try tracks.added(to: Array(text.utf8)) { "/x/\($0)" }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func german(isDefault: Bool = false) -> AddedTracks {
        var tracks = AddedTracks()
        var subtitles = AddedTracks.Subtitles(name: "Deutsch", language: "de", uri: "de/media.m3u8")
        subtitles.isDefault = isDefault
        tracks.subtitles = [subtitles]
        return tracks
    }

    @Test func aVariantWithoutSubtitlesGetsAGroup() throws {
        let lines = try added(german(), to: "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n")
        #expect(
            lines == [
                "#EXTM3U",
                "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"attached\",NAME=\"Deutsch\",LANGUAGE=\"de\",DEFAULT=NO,AUTOSELECT=YES,"
                    + "FORCED=NO,URI=\"/x/de/media.m3u8\"",
                "#EXT-X-STREAM-INF:BANDWIDTH=1,SUBTITLES=\"attached\"", "a.m3u8",
            ])
    }

    @Test func everyGroupGetsAMemberWithANameOfItsOwn() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Deutsch",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="attached",NAME="x",URI="t.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,SUBTITLES="s"
            a.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=2
            b.m3u8

            """
        let lines = try added(german(isDefault: true), to: text)
        #expect(lines[1].contains("DEFAULT=NO"), "\(lines[1])")
        let members = lines.filter { $0.contains("/x/de/media.m3u8") }
        #expect(members.count == 2 && members.allSatisfy { $0.contains("DEFAULT=YES") })
        #expect(members[0].contains("GROUP-ID=\"s\",NAME=\"Deutsch 2\""))
        #expect(members[1].contains("GROUP-ID=\"attached-2\",NAME=\"Deutsch\""))
        #expect(lines.suffix(2) == ["#EXT-X-STREAM-INF:BANDWIDTH=2,SUBTITLES=\"attached-2\"", "b.m3u8"])
    }

    @Test func chaptersReplaceThoseOfTheStream() throws {
        var tracks = AddedTracks()
        tracks.chapters = "c/data-0.json"
        tracks.images = [.init(resolution: Resolution(width: 160, height: 90), bandwidth: 7, uri: "t/media.m3u8")]
        let text = """
            #EXTM3U
            #EXT-X-SESSION-DATA:DATA-ID="com.apple.hls.chapters",URI="old.json"
            #EXT-X-SESSION-DATA:DATA-ID="other",VALUE="1"
            #EXT-X-STREAM-INF:BANDWIDTH=1
            a.m3u8

            """
        let lines = try added(tracks, to: text)
        #expect(
            lines == [
                "#EXTM3U", "#EXT-X-SESSION-DATA:DATA-ID=\"other\",VALUE=\"1\"",
                "#EXT-X-SESSION-DATA:DATA-ID=\"com.apple.hls.chapters\",URI=\"/x/c/data-0.json\"",
                "#EXT-X-IMAGE-STREAM-INF:BANDWIDTH=7,RESOLUTION=160x90,URI=\"/x/t/media.m3u8\"",
                "#EXT-X-STREAM-INF:BANDWIDTH=1", "a.m3u8",
            ])
    }

    @Test func withoutTracksNothingChanges() throws {
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n"
        #expect(try AddedTracks().added(to: Array(text.utf8)) { $0 } == Array(text.utf8))
    }

    @Test func aNameThatBreaksOutIsRefused() {
        var tracks = AddedTracks()
        tracks.subtitles = [.init(name: "a\",URI=\"x", language: nil, uri: "u")]
        #expect(throws: PlaylistError.self) { try added(tracks, to: "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n") }
    }
}
