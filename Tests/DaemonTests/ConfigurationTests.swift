import Control
import Downloads
import Foundation
import HTTPMessage
import Logging
import Orders
import TestSupport
import Testing
import WeirAPI

@testable import Daemon
@testable import Origin

@Suite struct ConfigurationTests {
    private let environment = ["HOME": "/home/u"]

    private func load(
        file: String? = nil, environment more: [String: String] = [:], options: [Configuration.Key: [String]] = [:]
    ) throws -> Configuration {
        let folder = try TemporaryFolder()
        let path = try file.map { try folder.write(Data($0.utf8), to: "weir.toml") }
        let variables = environment.merging(more) { $1 }
        return try Configuration.load(options: options, file: path, environment: variables)
    }

    private func refusal(
        file: String? = nil, environment: [String: String] = [:], options: [Configuration.Key: [String]] = [:]
    ) -> ConfigurationError? {
        #expect(throws: ConfigurationError.self) {
            try load(file: file, environment: environment, options: options)
        }
    }

    @Test func theShippedFileHasEveryKeyWithItsDefaultAndAComment() throws {
        let text = try String(contentsOfFile: Repository.path("conf/weir.toml"), encoding: .utf8)
        let entries = try ConfigurationFile(text, path: "conf/weir.toml").entries
        #expect(Set(entries.map(\.key)) == Set(Configuration.Key.allCases))
        let lines = text.components(separatedBy: "\n")
        for entry in entries {
            let line = try #require(entry.line)
            #expect(lines[line - 2].hasPrefix("# "), "\(entry.key.rawValue) has no comment")
        }
        var shipped = try load(file: text)
        #expect(shipped.given == Set(Configuration.Key.allCases) && !shipped.listenIsDefault)
        shipped.given = []
        #expect(try shipped == load())
    }

    @Test func everyValueIsWrittenAsTheFileHasIt() throws {
        let file = """
            listen = ["127.0.0.1:0", "[::1]:1"]\nlan = "[fd00::5]:9"\nallow-hosts = ["nas.local:1"]\nreserve = 7
            play-cache = "1536MB"\nkeys-expire = "90m"\nbundle-mode = "0640"\nusers = ["65534"]\nuser-agent = "a \\"b\\""
            on-complete = ["/a b", "--c"]\nidle-exit = "never"\nbackup = "exclude"\nproxy = "socks5h://h:1080"\npurge = "default"
            """
        for configuration in [try load(), try load(file: file)] {
            let text = Configuration.Key.allCases.map { "\($0.rawValue) = \(configuration.text(of: $0))\n" }.joined()
            var read = try load(file: text)
            read.given = configuration.given
            #expect(read == configuration, "\(text)")
        }
    }

    @Test func withoutAFileTheDefaultsFollowXDG() throws {
        let plain = try load()
        #expect(plain.store == "/home/u/.local/share/weir")
        #expect(plain.state == "/home/u/.local/state/weir")
        let moved = try load(environment: ["XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "relative"])
        #expect(moved.store == "/d/weir")
        #expect(moved.state == "/home/u/.local/state/weir")
        #expect(Configuration.standardFile(environment: ["HOME": "/h"]) == "/h/.config/weir/weir.toml")
    }

    @Test func optionsPrecedeTheEnvironmentWhichPrecedesTheFile() throws {
        let file = "max-parallel = 2\nstore = \"/file\"\nlog-level = \"debug\"\n"
        let configuration = try load(
            file: file, environment: ["WEIR_STORE": "/variable", "WEIR_LOG_LEVEL": "error", "WEIR_STATE": ""],
            options: [.logLevel: ["trace"]])
        #expect(configuration.maxParallel == 2)
        #expect(configuration.store == "/variable")
        #expect(configuration.logLevel == .trace)
        #expect(configuration.state == "/home/u/.local/state/weir")
    }

    @Test func theStandardFileIsReadIfItExists() throws {
        let folder = try TemporaryFolder()
        try folder.write(Data("offline = true".utf8), to: "weir/weir.toml")
        #expect(try load(environment: ["XDG_CONFIG_HOME": folder.path]).offline)
        #expect(try !load(environment: ["XDG_CONFIG_HOME": folder.path("none")]).offline)
    }

    @Test(
        arguments: [
            ("\"500MB\"", 500 << 20), ("\"0\"", 0), ("0", 0), ("\"1000000B\"", 1_000_000), ("\"unlimited\"", nil),
            ("\"10GB\"", 10 << 30),
        ] as [(String, Int64?)])
    func thePlayCacheLimitIsASizeOrNone(_ text: String, _ bytes: Int64?) throws {
        #expect(try load(file: "play-cache = \(text)").playCache == bytes)
    }

    @Test(arguments: [
        (["offline": "true", "local": "true"], "offline"), (["local": "yes"], "local"), (["offline": "1"], "offline"),
        (["offline": "no", "local": "false"], "auto"), ([:], "auto"),
    ])
    func theStricterModeApplies(variables: [String: String], mode: String) throws {
        let environment = variables.reduce(into: [:]) { $0["WEIR_" + $1.key.uppercased()] = $1.value }
        #expect("\(try load(environment: environment).mode)" == mode)
    }

    @Test func theProxyIsTheKeysOrTheEnvironments() throws {
        let variables = ["https_proxy": "http://anna:secret@e:1", "http_proxy": "h:2"]
        #expect(
            try load(environment: variables).proxies.summary
                == "http by http://h:2, https by http://e:1 with credentials")
        #expect(try load(file: "proxy = \"socks5h://k:3\"", environment: variables).proxies.summary == "socks5h://k:3")
        #expect(try load(file: "proxy = \"direct\"", environment: variables).proxies.summary == nil)
        #expect(try load(file: "proxy = \"\"").proxies.summary == nil)
        let wrong = refusal(environment: ["https_proxy": "ftp://anna:secret@e"])
        #expect(wrong?.source == .variable("https_proxy"))
        #expect(wrong?.message.contains("https_proxy") ?? false)
        for refused in [wrong, refusal(file: "proxy = \"ftp://anna:secret@e\"")] {
            #expect(refused != nil && !"\(refused?.message ?? "secret")".contains("secret"))
        }
    }

    @Test func allowedHostsAreRead() throws {
        #expect(try load(file: "allow-hosts = [\"nas.lan:1\", \"10.0.0.0/8\"]").allowedHosts.count == 2)
        #expect(refusal(file: "allow-hosts = [\"a b\"]")?.message.contains("\"a b\" is not a host to allow") ?? false)
    }

    @Test func authoritiesAreJoined() throws {
        let folder = try TemporaryFolder()
        func block(_ text: String) -> String { "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n" }
        let base = try folder.write(Data("# base\n\(block("a"))\(block("b"))".utf8), to: "base.pem")
        let own = try folder.write(Data((block("c") + block("a")).utf8), to: "own.pem")
        try folder.write(Data(block("d").utf8), to: "more/d.crt")
        try folder.write(Data(block("e").utf8), to: "more/e.txt")
        func prepared(_ file: String?, _ variables: [String: String]) throws -> String? {
            let text = file.map { "ca-file = \"\($0)\"\nca-folder = \"\(folder.path)/more\"" } ?? ""
            return try load(file: text, environment: variables).authorities.prepare(in: folder.path) { _ in }
        }
        #expect(try prepared(nil, [:]) == nil)
        #expect(try prepared(nil, ["SSL_CERT_FILE": base, "CURL_CA_BUNDLE": base]) == base)
        #expect(try prepared(nil, ["SSL_CERT_FILE": folder.path + "/none"]) == nil)
        let path = try #require(try prepared(own, ["SSL_CERT_FILE": base]))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == ["a", "b", "c", "d"].map(block).joined())
        func mode() throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode() == 0o600)
        // As an earlier version left it.
        chmod(path, 0o644)
        #expect(try prepared(own, ["SSL_CERT_FILE": base]) == path && mode() == 0o600)
        #expect(refusal(file: "ca-file = \"/none\"")?.message.contains("cannot be read") ?? false)
    }

    @Test func purgeAndBackupAreKeywords() throws {
        let configuration = try load(file: "purge = \"important\"\nbackup = \"exclude\"")
        #expect("\(configuration.purge)" == "important" && configuration.isExcludedFromBackups)
        #expect(try "\(load().purge)" == "expired" && !load().isExcludedFromBackups)
        let message = refusal(file: "purge = \"all\"")?.message
        #expect(message == "purge: \"all\" is not one of expired, default, important")
        #expect(refusal(file: "backup = true")?.message == "backup: true is not include or exclude")
    }

    @Test func usersAreNamesOrNumbers() throws {
        let configuration = try load(file: "users = [\"root\", \"1001\"]\nother-users = \"play\"")
        #expect(configuration.users == [0, 1001] && "\(configuration.otherUsers)" == "play")
        #expect(try load(file: "users = 1001").users == [1001])
        #expect(try load(environment: ["WEIR_USERS": "root,7"]).users == [0, 7])
        #expect(try load(options: [.users: ["4294967294", "root"]]).users == [4_294_967_294, 0])
        #expect(refusal(options: [.users: ["4294967295"]]) != nil && refusal(options: [.users: ["-1"]]) != nil)
        #expect(try load().users.isEmpty && "\(load().otherUsers)" == "nothing")
    }

    @Test(
        arguments: [
            ("192.168.1.5", "192.168.1.5", nil), ("192.168.1.5:8300", "192.168.1.5", 8300), ("fd00::5", "fd00::5", nil),
            ("[fd00::5]", "fd00::5", nil), ("[fd00::5]:8300", "fd00::5", 8300), ("eth0", "eth0", nil),
            ("enp3s0.12:8300", "enp3s0.12", 8300), ("auto", "auto", nil), ("auto:0", "auto", 0),
        ] as [(String, String, UInt16?)])
    func theNetworkAddressHasAnOptionalPort(_ text: String, _ host: String, _ port: UInt16?) throws {
        let lan = try #require(try load(file: "lan = \"\(text)\"").lan)
        #expect(lan.host == host && lan.port == port)
        #expect(try load(environment: ["WEIR_LAN": text]).lan == lan && load().lan == nil)
    }

    @Test func rulesForDownloadsAreRead() throws {
        let file = """
            download-hours = ["22:00-06:00", "12:00-13:00"]
            metered = "pause"
            on-battery = "30%"
            only-idle = true
            limit-rate = "2MB"
            """
        let configuration = try load(file: file)
        #expect(configuration.rules.hours.map(\.description) == ["22:00-06:00", "12:00-13:00"])
        #expect(configuration.rules.metered == .pause && configuration.rules.onlyIdle)
        #expect(configuration.rules.battery == .pauseBelow(30) && configuration.limitRate == 2 << 20)
        let variables = ["WEIR_DOWNLOAD_HOURS": "22:00-06:00,12:00-13:00", "WEIR_ON_BATTERY": "pause"]
        #expect(try load(environment: variables).rules.hours.count == 2)
        #expect(try load(environment: variables).rules.battery == .pause)
    }

    @Test(arguments: [
        ("download-hours = [\"22-06\"]", "\"22-06\" is not a time of the day, such as 22:00-06:00"),
        ("metered = \"never\"", "\"never\" is not allow or pause"),
        ("on-battery = 30", "30 is not allow, pause, or a charge such as \"30%\""),
        ("only-idle = 1", "1 is not true or false"),
        (
            "limit-rate = \"1KB\"",
            "\"1KB\" is not a size for each second, such as 500KB or 2MB, of at least 10 KB; or unlimited"
        ),
        (
            "webhook = \"ftp://anna:secret@h/\"",
            "the value is not an http or https URL, such as http://127.0.0.1:8080/weir"
        ),
    ])
    func wrongRulesAreRefused(_ line: String, _ message: String) throws {
        let error = try #require(refusal(file: line))
        #expect(error.message.hasSuffix(": " + message), "\(error.message)")
        #expect(!"\(error)".contains("secret"))
    }

    @Test func theWebhookHasItsEvents() throws {
        let configuration = try load(
            file: "webhook = \"http://anna:secret@h/x\"\nwebhook-events = [\"complete\", \"waiting\"]")
        #expect(configuration.webhook?.url.host == "h" && configuration.webhookEvents == [.complete, .waiting])
        let message = refusal(file: "webhook-events = [\"done\"]")?.message
        #expect(
            message?.hasPrefix("webhook-events: \"done\" is not an event; the events are selection-resolved, ") == true)
    }

    @Test func everyKeyIsReadFromTheEnvironment() throws {
        let configuration = try load(environment: [
            "WEIR_LISTEN": "127.0.0.1:0,[::1]:1", "WEIR_OFFLINE": "yes", "WEIR_MAX_PARALLEL": "3",
            "WEIR_HOST_NAMES": "a,b", "WEIR_ALLOWED_ORIGINS": "http://a:1", "WEIR_PLAYER": "/usr/bin/mpv",
            "WEIR_STATE": "~/s/", "WEIR_PLAY_CACHE": "1.5GB",
        ])
        #expect(configuration.playCache == 3 << 29)
        #expect(configuration.listen.map(\.description) == ["127.0.0.1:0", "[::1]:1"])
        #expect(configuration.offline)
        #expect(configuration.maxParallel == 3)
        #expect(configuration.hostNames == ["a", "b"])
        #expect(configuration.allowedOrigins == ["http://a:1"])
        #expect(configuration.player == "/usr/bin/mpv")
        #expect(configuration.state == "/home/u/s")
    }

    @Test func aRelativeFolderOfAnOptionIsInTheCurrentFolder() throws {
        let here = FileManager.default.currentDirectoryPath
        #expect(try load(options: [.store: ["x/y"]]).store == here + "/x/y")
        let refusal = refusal(file: "store = \"x\"")
        #expect(refusal?.message == "store: \"x\" is not a folder's absolute path, or one that begins with ~/")
    }

    @Test(arguments: [
        ("\n\nstoer = \"/x\"\n", 3, "there is no key \"stoer\"; did you mean \"store\"?", "correct the key"),
        (
            "offline = true\nmax_parallel = 3", 2, "there is no key \"max_parallel\"; did you mean \"max-parallel\"?",
            "correct the"
        ),
        ("[server]\nport = 1", 1, "there is no key \"server\"", "the keys are listen, lan, store"),
        ("# max-parallel\nmax-parallel = 65", 2, "max-parallel: 65 is not a number from 1 to 64", "correct the value"),
        ("max-parallel = \"6\"", 1, "max-parallel: \"6\" is not a number from 1 to 64", "correct the value"),
        ("offline = \"true\"", 1, "offline: \"true\" is not true or false", "correct the value"),
        ("host-names = [1]", 1, "host-names: a value of type mixed array", "correct the value"),
        ("users = [\"root\", \"no such user\"]", 1, "users: this machine has no user \"no such user\"", "correct the"),
        ("users = true", 1, "users: true is not a list of users", "correct the value"),
        ("other-users = \"all\"", 1, "other-users: \"all\" is not nothing or play", "correct the value"),
        ("play-cache = \"lots\"", 1, "play-cache: \"lots\" is not a size, such as 2GB or", "correct the value"),
        (
            "play-cache = 2", 1, "play-cache: 2 has no unit: write \"2GB\", \"2MB\" or, for bytes, \"2B\"",
            "correct the value"
        ),
        ("play-cache = \"2\"", 1, "play-cache: 2 has no unit: write \"2GB\"", "correct the value"),
        ("idle-exit = 10", 1, "idle-exit: 10 is not a duration, such as 30d or 48h, or never", "correct the value"),
        ("on-fail = 3", 1, "on-fail: 3 is not a program and its arguments", "correct the value"),
        ("on-fail = [\"\"]", 1, "on-fail: [\"\"] is not a program", "correct the value"),
        ("start = \"yes\"", 1, "start: \"yes\" is not true or false", "correct the value"),
        ("play-cache = -1", 1, "play-cache: -1 is not a size", "correct the value"),
        ("log-level = \"loud\"", 1, "log-level: \"loud\" is not one of trace, debug", "correct the value"),
        ("listen = []", 1, "listen: [] is not an address with a port", "correct the value"),
        ("listen = \"0.0.0.0:1\"", 1, "listen: other machines could reach 0.0.0.0:1", "correct the value"),
        ("allowed-origins = \"*\"", 1, "allowed-origins: \"*\" is not an origin", "correct the value"),
        ("offline = true\noffline == 3", 2, "is not TOML", "write it as"),
    ])
    func aBadLineOfTheFileIsReportedWithItsFix(text: String, line: Int, message: String, next: String) throws {
        let error = try #require(refusal(file: text))
        guard case .file(let path, let found) = error.source else {
            Issue.record("not of a file: \(error)")
            return
        }
        #expect(path.hasSuffix("/weir.toml"))
        #expect(found == line)
        #expect(error.message.hasPrefix(message), "\(error.message)")
        #expect(error.next?.contains(next) == true, "\(error.next ?? "")")
        #expect(error.exitCode == 78)
    }

    @Test func badVariablesAndOptionsAreNamed() throws {
        let variable = try #require(refusal(environment: ["WEIR_OFFLINE": "maybe"]))
        #expect(variable.description == "WEIR_OFFLINE: \"maybe\" is not true or false")
        #expect(variable.exitCode == 78)
        let option = try #require(refusal(options: [.listen: ["localhost"]]))
        #expect(option.description.hasPrefix("--listen: \"localhost\" is not an address"))
        #expect(option.exitCode == 64)
    }

    // MARK: The table [selection]

    @Test func theShippedFileHasEveryKeyOfASelection() throws {
        let text = try String(contentsOfFile: Repository.path("conf/weir.toml"), encoding: .utf8)
        let entries = try ConfigurationFile(text, path: "conf/weir.toml").selection
        #expect(entries.map(\.key) == Selection.Key.allCases)
        let lines = text.components(separatedBy: "\n")
        for entry in entries {
            let line = try #require(entry.line)
            #expect(lines[line - 2].hasPrefix("# "), "\(entry.key) has no comment")
        }
        #expect(try load(file: text).selection == Selection())
    }

    @Test func theTableSelectionHasTheDefaultsOfSelections() throws {
        let text = """
            offline = true
            [selection]
            quality = "<=1080p"
            where = ["codec!=hvc1", "peak<=5M"]
            audio = ["de", "en"]
            subs = "all"
            prefer-hdr = true
            prefer-multichannel = true
            codecs = ["avc1"]
            languages = "ja,en"
            """
        let configuration = try load(file: text)
        #expect(configuration.offline)
        var expected = Selection(
            quality: .heightAtMost(1080), audio: .languages(["de", "en"]), subtitles: .all,
            conditions: [try VariantCondition("codec!=hvc1"), try VariantCondition("peak<=5M")])
        var preferences = Selection.Preferences()
        preferences.prefersHDR = true
        preferences.prefersMultichannel = true
        preferences.codecs = ["avc1"]
        preferences.languages = ["ja", "en"]
        expected.preferences = preferences
        #expect(configuration.selection == expected)
        let least = try load(file: "[selection]\nmin-bitrate = 265000\nmin-size = \"720p\"\nfast = true").selection
        #expect(least.preferences?.minimumBitRate == 265_000 && least.preferences?.minimumSize?.height == 720)
        #expect(least.preferences?.isFast == true)
    }

    @Test(
        arguments: [
            ("[selection]\nqualty = \"best\"", 2, "there is no key \"qualty\" in [selection]"),
            ("[selection]\n\nquality = 720", 3, "quality: no variant has only 720 bits per second: did you mean 720p?"),
            ("[selection]\nfast = \"true\"", 2, "fast: \"true\" is not true or false"),
            ("[selection]\nwhere = [\"size<1\"]", 2, "where: \"size<1\" is not a condition"),
            ("[selection]\naudio = true", 2, "audio: true is not a text or a list of texts"),
            ("selection = 1", 1, "selection is not a table"),
            ("[selection]\nquality = \"worst\"\nmin-size = \"720p\"", nil, "[selection]: the worst quality has no"),
        ] as [(String, Int?, String)])
    func aBadLineOfTheTableSelectionIsReported(text: String, line: Int?, message: String) throws {
        let error = try #require(refusal(file: text))
        guard case .file(_, let found) = error.source else {
            Issue.record("not of a file: \(error)")
            return
        }
        #expect(found == line && error.message.hasPrefix(message), "\(error)")
    }

    @Test func aNamedFileMustExist() throws {
        let error = #expect(throws: ConfigurationError.self) {
            try Configuration.load(options: [:], file: "/nowhere/weir.toml", environment: environment)
        }
        #expect(error?.description == "/nowhere/weir.toml: cannot be read: No such file or directory")
        #expect(error?.exitCode == 78)
    }

    @Test func aStandardFileThatIsNotTextIsAnError() throws {
        let folder = try TemporaryFolder()
        try folder.write(Data([0xFF, 0xFE, 0]), to: "weir/weir.toml")
        let error = #expect(throws: ConfigurationError.self) {
            try Configuration.load(options: [:], environment: ["XDG_CONFIG_HOME": folder.path, "HOME": folder.path])
        }
        #expect(
            error?.description == folder.path("weir/weir.toml") + ": cannot be read: it is not a file of UTF-8 text")
    }

    @Test(arguments: [
        ("127.0.0.1:8216", "127.0.0.1:8216"), ("127.8.8.8:0", "127.8.8.8:0"), ("[::1]:65535", "[::1]:65535"),
        ("127.0.0.1", nil), ("127.0.0.1:", nil), ("127.0.0.1:65536", nil), ("localhost:1", nil), ("::1:1", nil),
        ("[127.0.0.1]:1", nil), ("[::]:1", nil), ("192.168.1.2:1", nil), ("", nil),
    ])
    func aListenAddressIsALiteralLoopbackAddressWithAPort(text: String, meaning: String?) {
        let address = try? ListenAddress(text)
        #expect(address?.description == meaning)
    }
}
