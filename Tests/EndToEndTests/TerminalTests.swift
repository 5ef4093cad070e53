import Foundation
import TestSupport
import Testing

@Suite("Text from an origin")
struct TerminalTests {
    /// The characters that could write to a terminal: C0, C1, and those that change the order of a line.
    private static let hostile = "\u{1B}]0;a\u{07}\u{9B}2J\u{202E}\u{2066}\u{85}"

    private static func unsafe(_ text: String) -> [Unicode.Scalar] {
        text.unicodeScalars.filter {
            ($0.value < 0x20 && $0 != "\n") || (0x7F..<0xA0).contains($0.value)
                || hostile.unicodeScalars.suffix(3).contains($0)
        }
    }

    @Test("is escaped by each command, in the log, and in the daemon's own replies")
    func isEscaped() async throws {
        let root = try TemporaryFolder()
        let playlist = """
            #EXTM3U
            #EXT-X-SESSION-DATA:DATA-ID="com.apple.hls.title",VALUE="T\(Self.hostile)"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="N\(Self.hostile)",LANGUAGE="de\(Self.hostile)",DEFAULT=YES,URI="a.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1000,CODECS="avc1\(Self.hostile)",AUDIO="a",NAME="V\(Self.hostile)"
            v.m3u8

            """
        try root.write(Data(playlist.utf8), to: "film/master.m3u8")
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,T\(Self.hostile)\n\(Self.hostile).ts\n#EXT-X-ENDLIST\n"
        for name in ["a", "v"] {
            try root.write(Data(media.utf8), to: "film/\(name).m3u8")
        }
        try await Scene.with(root: root.path) { scene in
            let url = scene.origin.master("film")
            let title = ["--title", "X\(Self.hostile)"]
            let commands = [
                ["show", url], ["show", url, "--json"], ["add", url] + title, ["show", "film", "--explain"],
                ["show", "film", "--json"], ["list"], ["list", "--json"], ["get", url], ["get", url, "--json"],
                ["downloads"], ["log", "--errors"], ["log", "--errors", "--json"], ["check", url],
                ["check", url, "--json"], ["show", "film\(Self.hostile)"],
            ]
            for command in commands {
                let result = try await scene.weir.run(command)
                #expect(
                    Self.unsafe(result.output + result.errors) == [], "\(command): \(result.output)\(result.errors)")
                if command.last == "--json" {
                    for line in result.output.split(separator: "\n") {
                        _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
                    }
                }
            }
            let shown = try await scene.weir.run(["show", "film"])
            #expect(shown.output.contains("N\\u{1B}]0;a\\u{7}\\u{9B}2J\\u{202E}"), "\(shown.output)")
            let unknown = try await HTTPProbe.fetch(await scene.weir.url("/%1B%5D0;a%07%C2%9B.m3u8"))
            #expect(Self.unsafe(unknown.text) == [], "\(unknown.text)")
            #expect(Self.unsafe(await scene.weir.log) == [])
        }
    }
}
