import Foundation
import TestSupport
import Testing

@testable import weir

/// Runs `weir check` without a daemon.
@Suite struct CheckCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func check(_ arguments: String...) async throws -> ProcessResult {
        let own = ["HOME": folder.path, "XDG_STATE_HOME": folder.path("state")]
        return try await ProcessRunner.run(
            Repository.builtProgram("weir"), ["check"] + arguments, environment: own)
    }

    private func write(_ text: String, to name: String = "m.m3u8") throws -> String {
        try folder.write(Data(text.utf8), to: name)
    }

    @Test func aValidPlaylistExitsWith0() async throws {
        let path = try write("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n")
        let result = try await check(path)
        #expect(result.exit == .code(0) && result.errors.isEmpty)
        #expect(result.output == "1 playlist, no findings\n")
        #expect(folder.files() == ["m.m3u8"])
    }

    @Test func toleratedFaultsAreWarningsWithLineAndClause() async throws {
        let path = try write("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n a.ts\n#EXT-X-ENDLIST\n")
        let result = try await check(path)
        #expect(result.exit == .code(0))
        #expect(
            result.output == """
                \(path):4: warning: blanks around the URI; some players treat them as a part of it (RFC 8216 §4.1)
                1 playlist, 1 warning: players can play it

                """)
    }

    @Test func fatalFaultsExitWith65() async throws {
        let path = try write("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-KEY:METHOD=AES-128\n#EXTINF:6,\na.ts\n")
        let result = try await check(path)
        #expect(result.exit == .code(65) && result.errors.isEmpty)
        #expect(
            result.output == """
                \(path):3: error: the key has no URI: the segments cannot be decrypted (RFC 8216 §4.3.2.4)
                1 playlist, 1 error: players will fail

                """)
    }

    @Test func jsonHasAnObjectPerFindingAndTheResult() async throws {
        let path = try write("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n", to: "quote\".m3u8")
        let result = try await check(path, "--json")
        #expect(result.exit == .code(65))
        let quoted = path.replacingOccurrences(of: "\"", with: "\\\"")
        #expect(
            result.output == """
                {"v":1,"t":"diagnostic","playlist":"\(quoted)","line":3,"severity":"error","code":"missingURI",\
                "clause":"RFC 8216 §4.1","message":"no URI follows the EXTINF (#EXTINF:6,)"}
                {"v":1,"t":"result","playlists":["\(quoted)"],"errors":1,"warnings":0,"notes":0,"exit":65}

                """)
    }

    @Test func aMissingFileExitsWith66() async throws {
        let path = folder.path("none.m3u8")
        for options in [[], ["--json"]] {
            let result = try await ProcessRunner.run(Repository.builtProgram("weir"), ["check", path] + options)
            #expect(result.exit == .code(66))
            #expect(
                result.errors
                    == "weir: \(path): No such file or directory\ntry: give a URL, or the path of a playlist\n")
        }
        let result = try await check(path, "--json")
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 2 && lines[1].contains(#""error":{"code":"no-such-file","#))
        #expect(lines[1].hasSuffix(#""exit":66}"#))
    }

    @Test func aRefusedURLExitsWith65AndAnUnreachableOneWith75() async throws {
        #expect(try await check("ftp://h/a.m3u8").exit == .code(65))
        let result = try await check("http://127.0.0.1:1/a.m3u8?token=secret")
        #expect(result.exit == .code(75))
        #expect(result.output.hasPrefix("http://127.0.0.1:1/a.m3u8?…: error: could not be reached"))
        #expect(result.errors.hasSuffix("\ntry: repeat the command later\n"))
        #expect(!(result.output + result.errors).contains("secret"))
    }

    @Test func controlCharactersFromOutsideAreEscaped() async throws {
        let path = try write(
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://k\",KEYFORMAT=\"\u{1B}[2J\u{202E}\"\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n"
        )
        let result = try await check(path)
        #expect(result.output.contains("KEYFORMAT \\u{1B}[2J\\u{202E}"), "\(result.output)")
    }
}
