import Testing

@testable import HLS

@Suite("A variable")
struct VariableTests {
    private func media(_ text: String, _ sources: VariableSources = .none) throws -> MediaPlaylist {
        guard case .media(let playlist) = try Playlist.parse(Array(text.utf8), variables: sources) else {
            throw Fixtures.NotExpected()
        }
        return playlist
    }

    /// The first defect, mended or not.
    private func fault(_ text: String, _ sources: VariableSources = .none) throws -> PlaylistError {
        let result = Result { () throws(PlaylistError) in try Playlist.parse(Array(text.utf8), variables: sources) }
        switch result {
        case .success(let playlist): return try #require(playlist.text.mends.first)
        case .failure(let error): return error
        }
    }

    @Test("is replaced in URI lines, quoted-strings and hexadecimal-sequences, and nowhere else")
    func places() throws {
        let playlist = try media(
            """
            #EXTM3U
            #EXT-X-DEFINE:NAME="host",VALUE="https://h.example"
            #EXT-X-DEFINE:NAME="iv",VALUE="0x2A"
            #EXT-X-DEFINE:NAME="k_1",VALUE=""
            #EXT-X-KEY:METHOD=AES-128,URI="{$host}/key{$k_1}",IV={$iv}
            #EXT-X-MAP:URI="{$host}/i.mp4",BYTERANGE="5@0"
            #EXTINF:1,{$host}
            # {$host}
            #EXT-X-VENDOR:URI="{$host}"
              {$host}/{$k_1}a.ts?{$$host}{$host x}{$}{$
            """)
        let segment = playlist.segments[0]
        #expect(segment.uri == "https://h.example/a.ts?{$$host}{$host x}{$}{$")
        #expect(segment.title == "{$host}")
        #expect(segment.map?.uri == "https://h.example/i.mp4")
        #expect(segment.keys[0].uri == "https://h.example/key")
        #expect(segment.keys[0].initializationVector?.last == 0x2A)
        let expected = """
            #EXTM3U
            #EXT-X-KEY:METHOD=AES-128,URI="https://h.example/key",IV=0x2A
            #EXT-X-MAP:URI="https://h.example/i.mp4",BYTERANGE="5@0"
            #EXTINF:1,{$host}
            #EXT-X-VENDOR:URI="{$host}"
            https://h.example/a.ts?{$$host}{$host x}{$}{$
            """
        #expect(String(decoding: try playlist.rendered { _ in nil }, as: UTF8.self) == expected)
    }

    @Test("does not change the text that is written back")
    func lossless() throws {
        let text = "\u{FEFF}#EXTM3U\r\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"\r\n#EXTINF:1,\r\n {$a}.ts \r\n\r\n"
        let playlist = try media(text)
        #expect(playlist.text.write() == Array(text.utf8))
        #expect(playlist.segments[0].uri == "b.ts" && playlist.segments[0].line == 4)
    }

    @Test("may refer to earlier ones, and its value is not searched again")
    func nested() throws {
        let playlist = try media(
            """
            #EXTM3U
            #EXT-X-DEFINE:NAME="a",VALUE="1"
            #EXT-X-DEFINE:VALUE="{$a}{$a}", NAME="b"
            #EXT-X-DEFINE:QUERYPARAM="c"
            #EXTINF:1,
            {$b}/{$c}
            """, VariableSources(query: "c=%7B%24a%7D"))
        #expect(playlist.segments[0].uri == "11/{$a}")
    }

    @Test("of a multivariant playlist can be imported, whatever its source")
    func imports() throws {
        let text = """
            #EXTM3U
            #EXT-X-DEFINE:NAME="path",VALUE="p/q"
            #EXT-X-DEFINE:QUERYPARAM="token"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="{$path}",URI="{$path}/a.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            {$path}/v.m3u8?t={$token}
            """
        let sources = VariableSources(query: "x=1&token=a%2Bb+c&token=2")
        guard case .multivariant(let multivariant) = try Playlist.parse(Array(text.utf8), variables: sources) else {
            throw Fixtures.NotExpected()
        }
        #expect(multivariant.variables == ["path": "p/q", "token": "a+b+c"])
        #expect(multivariant.renditionURIs == ["p/q/a.m3u8", "p/q/v.m3u8?t=a+b+c"])
        let relayed = String(decoding: try multivariant.rendered { _ in nil }, as: UTF8.self)
        #expect(!relayed.contains("DEFINE") && relayed.contains("NAME=\"p/q\""))
        let playlist = try media(
            "#EXTM3U\n#EXT-X-DEFINE:IMPORT=\"token\"\n#EXTINF:1,\ns.ts?{$token}\n",
            VariableSources(imports: multivariant.variables))
        #expect(playlist.segments[0].uri == "s.ts?a+b+c")
    }

    @Test("without a value or an earlier definition is an error at its line")
    func missing() throws {
        let use = "#EXTINF:1,\n{$a}\n"
        let imported = "#EXTM3U\n#EXT-X-DEFINE:IMPORT=\"a\"\n" + use
        #expect(try fault(imported).code == .missingVariable)
        #expect(try fault(imported, VariableSources(imports: ["b": "c"])).line == 2)
        let parameter = "#EXTM3U\n#EXT-X-DEFINE:QUERYPARAM=\"a\"\n" + use
        for query in [nil, "", "a", "a=", "A=1", "b=a", "a=%FF", "%61"] as [String?] {
            let error = try fault(parameter, VariableSources(query: query))
            #expect(error.code == .missingVariable && error.line == 2)
        }
        let early = try fault("#EXTM3U\n\(use)#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"\n")
        #expect(early.code == .missingVariable && early.line == 3)
        let none = try fault("#EXTM3U\n#EXT-X-VERSION:8\n\(use)")
        #expect(none.code == .missingVariable && none.line == 4)
        let inKey = try fault("#EXTM3U\n#EXT-X-VERSION:8\n#EXT-X-KEY:METHOD=AES-128,URI=\"{$x}\"\n#EXTINF:1,\na\n")
        #expect(inKey.code == .missingVariable && inKey.line == 3)
    }

    @Test("that is not defined stays a part of the text, as in libavformat, and is reported once")
    func undefined() throws {
        for version in [7, 8] {
            let playlist = try media(
                """
                #EXTM3U
                #EXT-X-VERSION:\(version)
                #EXT-X-KEY:METHOD=AES-128,URI="{$a}.key",IV={$b}
                #EXTINF:1,
                {$a}.ts
                #EXTINF:1,
                {$b}/{$a}.ts

                """)
            #expect(playlist.segments.map(\.uri) == ["{$a}.ts", "{$b}/{$a}.ts"])
            #expect(playlist.keys[0].uri == "{$a}.key")
            let missing = playlist.text.mends.filter { $0.code == .missingVariable }
            #expect(missing.map(\.line) == [3, 3] && missing[0].reason.hasSuffix("defines a"))
            let output = String(decoding: try playlist.rendered { _ in nil }, as: UTF8.self)
            #expect(output.contains("{$b}/{$a}.ts"))
        }
    }

    @Test("whose definition fails is reported there, and not at the references")
    func failed() throws {
        let text = "#EXTM3U\n#EXT-X-DEFINE:IMPORT=\"a\"\n#EXTINF:1,\n{$a}.ts\n#EXTINF:1,\n{$a}2.ts\n"
        let playlist = try media(text, VariableSources(imports: [:]))
        #expect(playlist.text.mends.map(\.line) == [2])
        #expect(playlist.segments.map(\.uri) == ["{$a}.ts", "{$a}2.ts"])
    }

    @Test(
        "is defined by exactly one attribute, once, with a valid name",
        arguments: [
            ("VALUE=\"x\"", PlaylistError.Code.missingAttribute), ("NAME=\"a\"", .missingAttribute),
            ("NAME=\"a\",IMPORT=\"b\",VALUE=\"c\"", .badValue), ("NAME=\"\",VALUE=\"c\"", .badValue),
            ("NAME=\"a b\",VALUE=\"c\"", .badValue), ("NAME=\"é\",VALUE=\"c\"", .badValue),
            ("NAME=\"known\",VALUE=\"1\"", .duplicateTag), ("NAME=\"a\",VALUE=\"{$no}\"", .missingVariable),
            ("NAME=\"a\",VALUE=\"x", .malformedAttributes),
        ])
    func definitions(_ attributes: String, _ code: PlaylistError.Code) throws {
        let text = "#EXTM3U\n#EXT-X-DEFINE:NAME=\"known\",VALUE=\"1\"\n#EXT-X-DEFINE:\(attributes)\n#EXT-X-ENDLIST\n"
        let error = try fault(text)
        #expect(error.code == code)
        #expect(error.line == 3)
        let multivariant = "#EXTM3U\n#EXT-X-DEFINE:IMPORT=\"a\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n"
        #expect(try fault(multivariant, VariableSources(imports: ["a": "b"])).code == .badValue)
    }

    @Test(
        "cannot add a line, a quote or an attribute",
        arguments: [
            "%22", "a%0A%23EXT-X-ENDLIST", "%0D", "%00", "%E2%80%A8", "%E2%80%A9", "%C2%85", "%1B", "%09", "%7F",
            "x%22,METHOD=%22NONE",
        ])
    func injection(_ value: String) throws {
        let text = "#EXTM3U\n#EXT-X-DEFINE:QUERYPARAM=\"q\"\n#EXT-X-KEY:METHOD=AES-128,URI=\"{$q}\"\n#EXTINF:1,\n{$q}\n"
        let error = try fault(text, VariableSources(query: "q=\(value)"))
        #expect(error.code == .badValue)
        #expect(error.line == 2)
    }

    @Test("cannot change the kind of a URI line, or end a value without quotes")
    func kinds() throws {
        for value in ["", "#EXT-X-ENDLIST", " "] {
            let text = "#EXTM3U\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"\(value)\"\n#EXTINF:1,\n{$a}\n"
            let error = try fault(text)
            #expect(error.code == .badValue && error.line == 4)
        }
        for value in ["0x1,URI=b", "0x", "1", "0x1 ", "AES-128"] {
            let definition = "#EXTM3U\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"\(value)\"\n"
            let error = try fault(definition + "#EXT-X-MAP:URI=\"i\",X-A={$a}\n#EXTINF:1,\nb\n")
            #expect(error.code == .badValue && error.line == 3)
        }
    }

    @Test("cannot expand a text beyond the limits")
    func limits() throws {
        var limits = PlaylistLimits()
        limits.lineBytes = 64
        let value = String(repeating: "v", count: 20)
        let long = "#EXTM3U\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"\(value)\"\n#EXTINF:1,\n{$a}{$a}{$a}{$a}\n"
        let first = try #require(throws: PlaylistError.self) {
            try Playlist.parse(Array(long.utf8), limits: limits)
        }
        #expect(first.code == .overLimit && first.line == 4)
        limits.bytes = long.utf8.count + 30
        limits.lineBytes = 1000
        let second = try #require(throws: PlaylistError.self) {
            try Playlist.parse(Array(long.utf8), limits: limits)
        }
        #expect(second.code == .overLimit && second.line == 4)
    }
}
