import Assets
import Foundation
import HLS
import HTTPMessage
import Origin
import Recordings
import TestSupport
import Testing

@testable import Daemon

@Suite struct StreamFileTests {
    private func read(_ text: String) throws -> [KnownStream] { try StreamFile(text, path: "/s.toml").streams }

    @Test func theShippedListIsValid() throws {
        let text = try String(contentsOfFile: Repository.path("conf/streams.toml"), encoding: .utf8)
        let streams = try read(text)
        #expect(streams.count == text.components(separatedBy: "\n[[stream]]").count - 1 && streams.count >= 5)
        #expect(streams.allSatisfy { $0.title != nil && $0.url.text.hasPrefix("https://") })
        #expect(streams[0].name == "bipbop-16x9")
    }

    @Test func namesComeFromTitlesInOrder() throws {
        let streams = try read(
            "[[stream]]\ntitle = \"Zoo: the film!\"\nurl = \"http://h/z.m3u8\"\n[[stream]]\nname = \"a\"\nurl = \"http://h/a.m3u8\"\n"
        )
        #expect(streams.map(\.name) == ["zoo-the-film", "a"] && streams.map(\.title) == ["Zoo: the film!", nil])
        #expect(try read("").isEmpty && read("# nothing\n").isEmpty)
    }

    @Test func whatIsWrittenReadsAsTheSame() throws {
        var stream = try #require(
            KnownStream(name: "a", title: "A \"b\" \\ \u{1}ü", url: try WebURL("https://h/a.m3u8?x=1&y=\"")))
        stream.logo = "https://l/1.png"
        stream.group = "News"
        stream.fields = try UserFields(["User-Agent: TV \"1\"", "@cdn.h X-Key: k"])
        let plain = try #require(KnownStream(name: "b", title: nil, url: try WebURL("http://h/b")))
        #expect(try read(StreamFile.text(of: stream) + "\n" + StreamFile.text(of: plain)) == [stream, plain])
    }

    @Test func aListIsReadAsItIsWritten() throws {
        let list = try KnownList(
            name: "tv", address: "https://u:p@h/tv.m3u?x=1", lines: ["User-Agent: TV"], interval: 3_600)
        let plain = try KnownList(name: "b", address: "http://h/b.m3u", lines: [])
        let text = StreamFile.text(of: list) + "\n" + Self.a + "\n" + StreamFile.text(of: plain)
        let file = try StreamFile(text, path: "/s.toml")
        #expect(file.lists == [list, plain] && file.streams.map(\.name) == ["a"])
        #expect(list.fields.texts.contains { $0.hasPrefix("Authorization: Basic") } && !list.url.text.contains("u:p"))
        let less = try #require(StreamFile.removing(list: "tv", from: text, path: "/s.toml"))
        #expect(try StreamFile(less, path: "/s.toml").lists == [plain] && less.contains(Self.a))
        let noStream = try #require(StreamFile.removing(file.streams[0], from: text, path: "/s.toml"))
        #expect(try StreamFile(noStream, path: "/s.toml").lists == [list, plain])
    }

    @Test func theAttributesOfAChannelListStay() throws {
        var stream = try #require(KnownStream(name: "a", title: nil, url: try WebURL("http://h/a")))
        stream.guideID = "a.tv"
        stream.attributes = [("catchup", "append"), ("tvg-chno", "\"5\"")].compactMap {
            ChannelList.Attribute(name: $0.0, value: $0.1)
        }
        #expect(try read(StreamFile.text(of: stream)) == [stream])
    }

    @Test(arguments: [
        ("[[lists]]\nname = \"tv\"\n", 1, "url is missing"), ("[[lists]]\nurl = \"tv.m3u\"\n", 2, "url: "),
        ("[[lists]]\nurl = \"http://h/tv\"\ninterval = \"10s\"\n", 3, "interval is not"),
        ("[[lists]]\nurl = \"http://h/tv\"\nevery = \"1h\"\n", 3, "there is no key \"every\""),
        (
            a + "[[lists]]\nurl = \"http://h/tv\"\n[[lists]]\nurl = \"http://h/tv\"\n", 7,
            "url: tv has this URL in an earlier entry"
        ),
        (
            "[[lists]]\nurl = \"http://h/1\"\nname = \"tv\"\n[[lists]]\nname = \"tv\"\nurl = \"http://h/2\"\n", 5,
            "name: the name tv is taken in an earlier entry"
        ),
        ("[[lists]]\nurl = \"http://h/tv\"\nname = 5\n", 3, "name is not a text"),
        ("[[lists]]\nurl = \"http://h/tv\"\nname = \"B c\"\n", 3, "name: \"B c\" is not a name"),
        ("[[lists]]\nname = \"tv\"\nurl = 5\n", 3, "url is not a text"),
        ("[[lists]]\nurl = \"http://h/tv\"\ninterval = 5\n", 3, "interval is not a text"),
        ("lists = 5\n", 1, "lists is not a list"), ("lists = [5]\n", 1, "lists is not a table"),
        ("[[lists]]\nurl = \"http://h/tv\"\nheaders = [\"hush\"]\n", 3, "headers: "),
        (a + "attributes = \"x\"\n", 4, "attributes is not"),
    ])
    func aBadListIsNamedByLineAndKey(text: String, line: Int, message: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try StreamFile(text, path: "/s.toml") }
        #expect(error.source == .file("/s.toml", line: line), "\(error)")
        #expect(error.message.hasPrefix(message) && !error.description.contains("hush"), "\(error)")
    }

    private static let three = """
        # My streams

        [[stream]]
        # the first
        name = "a"   # short
        url = "http://h/a"
        headers = [
          "X-Key: k",
        ]

        # the second
        [[stream]]
        name = "b"
        url = "http://h/b"
        # the end of b

        [[stream]]
        name = "c"
        url = "http://h/c"

        """

    @Test(arguments: [
        ("a", "# My streams\n\n# the first\n# the second\n[[stream]]\nname = \"b\"\n"),
        ("b", "]\n\n# the second\n# the end of b\n\n[[stream]]\nname = \"c\"\n"),
        ("c", "url = \"http://h/b\"\n# the end of b\n"),
    ])
    func anEntryIsRemovedAndItsCommentsStay(_ name: String, _ part: String) throws {
        let streams = try read(Self.three)
        let stream = try #require(streams.first { $0.name == name })
        let text = try #require(StreamFile.removing(stream, from: Self.three, path: "/s.toml"))
        #expect(text.contains(part), "\(text)")
        #expect(try read(text) == streams.filter { $0 != stream })
    }

    @Test func anEntryWhoseLinesAreNotFoundStays() throws {
        let list = "stream = [{name = \"a\", url = \"http://h/a\"}, {name = \"b\", url = \"http://h/b\"}]\n"
        let stream = try #require(try read(list).first)
        #expect(StreamFile.removing(stream, from: list, path: "/s.toml") == nil)
        let other = try #require(KnownStream(name: "z", title: nil, url: try WebURL("http://h/z")))
        #expect(StreamFile.removing(other, from: Self.three, path: "/s.toml") == nil)
    }

    @Test(arguments: ["headers = \"a\"", "headers = [1]", "headers = [\"hush\"]", "headers = [\"X: hush\\n\"]"])
    func headersAreFields(line: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try read("\(Self.a)\(line)\n") }
        #expect(error.description.hasPrefix("/s.toml:4: headers: ") && !error.description.contains("hush"), "\(error)")
    }

    private static let a = "[[stream]]\nname = \"a\"\nurl = \"http://h/a\"\n"

    @Test(arguments: [
        (
            a + "\n[[stream]]\nname = \"b\"\nurl = \"file:///b\"\n", 7,
            "url: the URL must begin with http:// or https://"
        ),
        (a + "[[stream]]\nurl = \"film\"\nname = \"b\"\n", 5, "url: the URL must begin with http:// or https://"),
        (a + "[[stream]]\nurl = \"http://u:p@h/b\"\nname = \"b\"\n", 5, "url: "),
        (a + "[[stream]]\nurl = \"http://h/b\"\nname = \"a\"\n", 6, "name: the name a is taken in an earlier entry"),
        (a + "[[stream]]\ntitle = \"A\"\nurl = \"http://h/b\"\n", 5, "title: the name a is taken in an earlier entry"),
        (a + "[[stream]]\nname = \"b\"\nurl = \"http://h/a\"\n", 6, "url: a has this URL in an earlier entry"),
        (a + "[[stream]]\nname = \"b\"\n", 4, "url is missing"),
        (a + "[[stream]]\nname = \"B c\"\nurl = \"http://h/b\"\n", 5, "name: \"B c\" is not a name"),
        (a + "[[stream]]\nurl = \"http://h/b\"\n", 5, "there is no name"),
        (a + "[[stream]]\nurl = 5\n", 5, "url is not a text"),
        (a + "[[stream]]\nname = \"b\"\nlink = \"http://h/b\"\n", 6, "there is no key \"link\""),
        ("name = \"b\"\n" + a, 1, "there is no key \"name\""), ("stream = 5\n", 1, "stream is not a list"),
        ("[stream]\nname = \"a\"\n", 1, "stream is not a list"), (a + "url = \"http://h/c\"\n", 4, "is not TOML"),
    ])
    func aBadEntryIsNamedByLineAndKey(text: String, line: Int, message: String) throws {
        let error = try #require(#expect(throws: ConfigurationError.self) { try read(text) })
        #expect(error.source == .file("/s.toml", line: line), "\(error)")
        #expect(error.message.hasPrefix(message), "\(error)")
        #expect(error.next != nil && error.exitCode == 78)
    }

    /// toml++ ends the process at such a line.
    @Test(arguments: [
        "[é]\n", "[\u{E9}", "[[é]]\n", " [ é]\n", "[\n", "[#]\n", "[+1]\n", "[[[a]]]\n", "\u{FEFF}[é]\n", "\u{A0}[.]\n",
        "y = [}\n", "y = [1, }\n", "y = [\u{2028}1]\n",
    ])
    func aLineThatWouldEndTheProcessIsAnError(header: String) throws {
        let lists = "\n# [é]\nx = [\n[+1], # [é]\n[é]\n"
        #expect(TOMLFlaw.first(in: lists) == nil)
        let open = "a = \"x\\\"y\"\nb = \"text\nc = 1\n"
        #expect(TOMLFlaw.first(in: open) == TOMLFlaw(line: 2, reason: "a text has no quotation mark at its end"))
        for before in ["", Self.a, "x = \"[\\\"[\"\ny = '''\n[é]\n'''\n", "x = [\n[1],\n[+1]\n]\n"] {
            let error = try #require(#expect(throws: ConfigurationError.self) { try read(before + header) })
            let line = before.utf8.count { $0 == 0x0A } + 1
            #expect(
                error.source == .file("/s.toml", line: line) && error.message.hasPrefix("is not TOML: "), "\(error)")
        }
    }

    @Test func aNULIsAnErrorAndNotAnEnd() throws {
        let error = try #require(#expect(throws: ConfigurationError.self) { try read("\(Self.a)\0url = 5\n") })
        #expect(error.source == .file("/s.toml", line: 4) && error.message == "is not TOML: there is a NUL")
    }

    @Test(
        "Lines that end as on Windows are lines: an error has its own, and an entry is removed with the rest as it was")
    func carriageReturns() throws {
        let others = "#\u{30D} mine\r\n[[stream]]\r\nname = \"b\"\r\nurl = \"http://h/b\"\r\n"
        let text = Self.a.split(separator: "\n").joined(separator: "\r\n") + "\r\n"
        let error = try #require(#expect(throws: ConfigurationError.self) { try read(text + others + "link = 5\r\n") })
        #expect(error.source == .file("/s.toml", line: 8), "\(error)")
        let streams = try read(text + others)
        #expect(StreamFile.removing(streams[0], from: text + others, path: "/s.toml") == others)
    }

    @Test func noHeaderFieldsAreNone() throws {
        #expect(try read("\(Self.a)headers = []\n").first?.fields == nil)
    }

    /// Messages go to the terminal and to the log of a service.
    @Test(arguments: ["http://u:tr0ub4dor@h/b", "http://u:tr0ub4dor@a b/", "u:tr0ub4dor@h", "http://h/b c?t=tr0ub4dor"])
    func aBadURLIsNotRepeated(url: String) throws {
        let text = Self.a + "[[stream]]\nurl = \"\(url)\"\nname = \"b\"\n"
        let error = try #require(#expect(throws: ConfigurationError.self) { try read(text) })
        #expect(!"\(error) \(error.next ?? "")".contains("tr0ub4dor") && error.source == .file("/s.toml", line: 5))
    }

    @Test func theStandardListIsOptionalAndANamedOneIsNot() throws {
        let folder = try TemporaryFolder()
        let environment = ["HOME": folder.path]
        let plain = try Configuration.load(options: [:], environment: environment)
        #expect(plain.streamsFile == folder.path(".config/weir/streams.toml"))
        #expect(try plain.streams().isEmpty)
        try folder.write(Data(Self.a.utf8), to: ".config/weir/streams.toml")
        #expect(try plain.streams().map(\.name) == ["a"])
        let named = try Configuration.load(options: [.streams: [folder.path("none.toml")]], environment: environment)
        let error = #expect(throws: ConfigurationError.self) { try named.streams() }
        #expect(error?.description == "\(folder.path("none.toml")): cannot be read: No such file or directory")
    }
}
