import Foundation
import TestSupport
import Testing

/// The user's streams file, with the real program.
@Suite struct StreamsFileTests {
    private func entry(_ name: String, _ url: String) -> String {
        "[[stream]]\nname = \"\(name)\"\ntitle = \"The \(name)\"\nurl = \"\(url)\"\n"
    }

    @Test func listsPlaysAndDownloadsAStreamByName() async throws {
        let folder = try TemporaryFolder()
        let origin = try await TestOrigin()
        let file = try folder.write(
            Data((entry("film", origin.master("ts")) + entry("other", origin.master("cmaf"))).utf8), to: "streams.toml")
        let weir = try await WeirProcess(options: ["--streams", file])
        let list = try await weir.run(["list"])
        #expect(
            list.exit == .code(0) && list.output.contains("film") && list.output.contains("in the streams file"),
            "\(list.output)")
        #expect(try await weir.run(["list", "--offline"]).output.isEmpty)
        let url = try await weir.run(["url", "film"]).output
        #expect(url.hasSuffix("/film.m3u8\n"))
        #expect(try await origin.requests().isEmpty)
        #expect(try await weir.run(["show", "film"]).output.contains("90p"))
        #expect(try await weir.run(["get", "film", "-q", "worst"]).exit == .code(0))
        #expect(try await weir.run(["list", "--offline"]).output.contains("film"))
        #expect(try await HTTPProbe.fetch(weir.url("/other.m3u8")).status == 200)
        #expect(try await !weir.run(["list"]).output.contains("in the streams file"))
        try await weir.terminate()
    }

    @Test func removesAnEntryAndKeepsTheComments() async throws {
        let folder = try TemporaryFolder()
        let rest = "# My streams\n" + entry("other", "http://h/other.m3u8")
        let file = try folder.write(
            Data((rest + "\n# The film.\n" + entry("film", "http://h/film.m3u8")).utf8), to: "streams.toml")
        let weir = try await WeirProcess(options: ["--streams", file])
        let removal = try await weir.run(["remove", "film", "--yes"])
        #expect(removal.exit == .code(0) && removal.output.hasPrefix("removed film from"), "\(removal.errors)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == rest + "\n# The film.\n")
        let list = try await weir.run(["list"]).output
        #expect(list.contains("other") && !list.contains("film"), "\(list)")
        #expect(try await weir.run(["remove", "film", "--yes"]).exit == .code(66))
        try await weir.terminate()
    }

    @Test func refusesToStartWithAnInvalidStreamsFile() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            Data((entry("film", "http://h/a") + entry("b", "nowhere")).utf8), to: "streams.toml")
        let store = folder.path("store")
        let state = folder.path("state")
        let result = try await ProcessRunner.run(
            Repository.builtProgram("weir"),
            ["serve", "--listen", "127.0.0.1:0", "--store", store, "--state", state, "--streams", file])
        #expect(result.exit == .code(78))
        // The text itself may contain a password; the line says where it is.
        #expect(
            result.errors.hasPrefix("weir: \(file):8: url: the URL must begin with http:// or https://"),
            "\(result.errors)")
        #expect(!result.errors.contains("nowhere"))
        #expect(!FileManager.default.fileExists(atPath: store) && !FileManager.default.fileExists(atPath: state))
    }
}
