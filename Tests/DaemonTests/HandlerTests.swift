import Foundation
import HTTPMessage
import Origin
import TestSupport
import Testing

@testable import Daemon

@Suite("A handler")
struct HandlerTests {
    private func rules(_ text: String) throws -> [HandlerRule] {
        try ConfigurationFile("[handlers]\n" + text, path: "/w.toml").handlers
    }

    @Test(
        "answers the URLs of its scheme or pattern, and those of playlists only if it may",
        arguments: [
            ("x = [\"p\"]", "x://a", true, true), ("x = [\"p\"]", "X://a", true, true),
            ("x = [\"p\"]", "x://a", false, false),
            ("x = [\"p\"]", "y://a", true, false), ("X = [\"p\"]", "x://a", true, true),
            ("x = { command = [\"p\"], from-playlists = true }", "x://a", false, true),
            ("x = { server = \"http://h/\" }", "x://a", true, true), ("x = \"https://h/resolve\"", "x://a", true, true),
            ("\"https://s/watch*\" = [\"p\"]", "https://s/watch?v=1", true, true),
            ("\"https://s/watch*\" = [\"p\"]", "https://s/watch?v=1", false, false),
            ("\"https://s/watch*\" = [\"p\"]", "https://s/list", true, false),
            ("\"https://*.s/*/live\" = [\"p\"]", "https://a.b.s/x/y/live", true, true),
            ("\"https://*.s/*/live\" = [\"p\"]", "https://a.s/live", true, false),
            ("\"https://s/a\" = [\"p\"]", "https://s/a", true, true),
            ("\"https://s/a\" = [\"p\"]", "https://s/ab", true, false),
        ])
    func answers(text: String, url: String, isUsers: Bool, expected: Bool) throws {
        let url = try WebURL(url)
        #expect(try rules(text).contains { $0.answers(url, isUsers: isUsers) } == expected)
    }

    @Test(
        "that cannot be used is refused with its line",
        arguments: [
            ("x = 5", "it is neither"), ("x = []", "the command is not a list of words"),
            ("x = [1]", "the command is not"),
            ("http = [\"p\"]", "no handler can answer http:"), ("file = [\"p\"]", "no handler can answer file:"),
            ("\"a b\" = [\"p\"]", "it is neither a scheme nor a pattern"),
            ("\"ftp://*\" = [\"p\"]", "a pattern begins with"),
            ("x = \"film\"", "the server is no http or https URL"),
            ("x = \"y://h\"", "the server is no http or https URL"),
            ("x = { command = [\"p\"], server = \"http://h/\" }", "it needs either"),
            ("x = { from-playlists = true }", "it needs either"),
            ("x = { program = [\"p\"] }", "there is no key \"program\""),
            (
                "\"https://h/*\" = { command = [\"p\"], from-playlists = true }",
                "a pattern answers only URLs that you give"
            ),
        ])
    func isRefused(text: String, reason: String) throws {
        let error = try #require(#expect(throws: ConfigurationError.self) { try rules("ok = [\"p\"]\n" + text) })
        #expect(error.source == .file("/w.toml", line: 3) && error.message.contains(": \(reason)"), "\(error)")
    }

    @Test("is no list", arguments: ["handlers = 5", "handlers = [\"a\"]"])
    func isNoList(text: String) throws {
        let error = try #require(
            #expect(throws: ConfigurationError.self) { try ConfigurationFile(text, path: "/w.toml") })
        #expect(error.description.contains("handlers is not a table"))
    }

    @Test(
        "writes JSON with a URL or an error, or else the resource",
        arguments: [
            ("{\"url\": \"https://h/a\"}", "https://h/a"),
            (" \n{\"url\": \"https://h/a\", \"more\": [1]}\n", "https://h/a"),
            ("{\"error\": \"no such film\"}", "! it says: no such film"),
            ("{\"url\": \"film\"}", "! its URL cannot be used"),
            ("{\"url\": \"skd://a\"}", "! its URL is neither"),
            ("{\"url\": \"file:///etc/passwd\"}", "! its URL cannot be used"),
            ("{\"url\": \"http://h/\", \"headers\": {\"A\\nB\": \"c\"}}", "! its header fields cannot be sent"),
            ("{\"url\": \"https://h/a\", \"expires\": \"soon\"}", "! its expires is neither"),
            ("{\"url\": \"https://h/a\", \"expires\": -1}", "! its expires is neither"),
            ("{\"content\": \"a2V5\", \"expires\": 1800000000}", "= key"),
            ("{\"content\": \"%\"}", "! its content is no base64"),
            ("", "! it wrote nothing"),
            ("#EXTM3U\n", "= #EXTM3U\n"), ("{not JSON", "= {not JSON"), ("{}", "= {}"), ("[1]", "= [1]"),
        ])
    func reply(text: String, expected: String) {
        let found =
            switch HandlerReply.answer(Array(text.utf8)) {
            case .content(let bytes, _): "= " + String(decoding: bytes, as: UTF8.self)
            case .location(let url, _): url.text
            case .failure(let reason): "! " + reason
            }
        #expect(found.hasPrefix(expected) && (expected.hasPrefix("!") || found == expected), "\(found)")
    }

    @Test("gives header fields and a title with its URL")
    func terms() throws {
        let text =
            "{\"url\":\"https://h/a\",\"headers\":{\"Referer\":\"https://p/\",\"Cookie\":\"a=b\"},\"title\":\"T\"}"
        guard case .location(_, let terms) = HandlerReply.answer(Array(text.utf8)) else {
            Issue.record("no location")
            return
        }
        #expect(terms.fields.shared.map(\.name) == ["Referer"] && terms.fields.credentials.map(\.name) == ["Cookie"])
        #expect(terms.title == "T" && terms.expires == nil)
    }

    @Test("is valid until its date", arguments: ["1800000000", "\"2027-01-15T08:00:00Z\""])
    func expires(date: String) throws {
        let answer = HandlerReply.answer(Array("{\"url\":\"https://h/a\",\"expires\":\(date)}".utf8))
        let url = try WebURL("film://a")
        var memory = HandlerMemory()
        memory.record(answer, for: url, isUsers: true, at: 1_799_999_000)
        #expect(memory.expiry(of: url) == 1_800_000_000)
        #expect(memory.answer(for: url, isUsers: true, at: 1_800_000_000) == nil)
        #expect(memory.answer(for: url, isUsers: false, at: 0) == nil)
        guard case .location(let location, let terms)? = memory.answer(for: url, isUsers: true, at: 1_799_999_999)
        else {
            Issue.record("it is forgotten")
            return
        }
        #expect(location.text == "https://h/a" && terms.isRemembered)
        memory.forget(url, isUsers: true)
        #expect(memory.answer(for: url, isUsers: true, at: 0) == nil)
    }

    @Test("runs with its arguments, a small environment and no shell")
    func program() async {
        let run = await HandlerProgram().run(["printf", "%s|", "a b", "$HOME"], variables: ["PATH=/usr/bin:/bin"])
        #expect(run == HandlerProgram.Outcome.output(Array("a b|$HOME|".utf8)))
        let environment = await HandlerProgram().run(["env"], variables: ["PATH=/usr/bin:/bin", "A=1"])
        #expect(environment == HandlerProgram.Outcome.output(Array("PATH=/usr/bin:/bin\nA=1\n".utf8)))
    }

    @Test(
        "that fails says why",
        arguments: [
            (["sh", "-c", "echo first >&2; echo the reason >&2; exit 3"], "exit code 3: the reason"),
            (["false"], "exit code 1"),
            (["sh", "-c", "kill -9 $$"], "a signal ended it"),
            (["/nowhere/at-all"], "/nowhere/at-all could not be started"),
            (["sh", "-c", "head -c 70000000 /dev/zero; sleep 60"], "it wrote more than 64 MB"),
        ])
    func failure(words: [String], reason: String) async {
        let outcome = await HandlerProgram().run(words, variables: ["PATH=/usr/bin:/bin"])
        guard case .failure(let text) = outcome else {
            Issue.record("it succeeded")
            return
        }
        #expect(text.hasPrefix(reason), "\(text)")
    }

    @Test("that takes too long is ended", arguments: ["sleep 300", "exec >&- 2>&-; exec sleep 300"])
    func lateness(script: String) async {
        let outcome = await HandlerProgram(timeLimit: 1).run(["sh", "-c", script], variables: ["PATH=/usr/bin:/bin"])
        #expect(outcome == HandlerProgram.Outcome.failure("it did not end within 1 s"))
    }

    @Test("ends with its group when nobody waits")
    func cancelled() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path("pid")
        let task = Task {
            await HandlerProgram().run(
                ["sh", "-c", "sleep 300 & echo $! > \(file).new; mv \(file).new \(file); wait"],
                variables: ["PATH=/usr/bin:/bin"])
        }
        try await waitUntil("a started program") { FileManager.default.fileExists(atPath: folder.path("pid")) }
        task.cancel()
        #expect(await task.value == HandlerProgram.Outcome.failure("nobody waits for it any more"))
    }
}
