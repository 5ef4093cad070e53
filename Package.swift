// swift-tools-version: 6.2

import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let sqlite = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let sqliteLibrary = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let toml = Target.Dependency.product(name: "TOMLKit", package: "TOMLKit")

/// The commit that is built, for `weir --version`; tools/start and tools/package name it. SwiftPM keeps the manifest's result
/// across commits, so that `Context.gitInformation` would be that of an earlier one.
let commit = Context.environment["WEIR_COMMIT"] ?? ""

/// A room with no words of its own on how it is built.
func room(_ name: String, _ uses: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: uses, swiftSettings: strict)
}

/// The tests of rooms: `uses` names every module that they import.
func tests(_ name: String, _ uses: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: uses, swiftSettings: strict)
}

// The rooms of the house, lowest first. An arrow may only point up this list.
let package = Package(
    name: "weir",
    products: [.executable(name: "weir", targets: ["weir"])],
    dependencies: [
        // The command line, its help, completions and man page.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        // The log that a daemon's user reads.
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        // SQLite for the catalogue.
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        // The configuration file.
        .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
    ],
    targets: [
        .systemLibrary(name: "CLibevent", pkgConfig: "libevent libevent_pthreads", providers: [.apt(["libevent-dev"])]),
        .systemLibrary(name: "CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        // SHA-256; libcurl brings the library along.
        .systemLibrary(name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLinux"),
        // Replaces the threads on which Swift runs tasks.
        .target(name: "CExecutor"),
        // The page's files, as bytes.
        .target(name: "CPage", exclude: ["files", "page.png", "terminal.svg"]),
        // The API's document, conf/openapi.json, as bytes: the compiler has #embed, where SwiftPM's
        // .embedInCode takes minutes. And the commit.
        .target(name: "CDocument", cSettings: [.define("WEIR_COMMIT", to: "\"\(commit)\"")]),
        // Pure: text and bytes in, values out.
        room("SafeText"),
        room("HLS", ["SafeText"]),
        room("HTTPMessage", ["SafeText"]),
        room("SegmentFormat"),
        // The words of an order, from the command line to the catalogue.
        room("Orders", ["SafeText"]),
        // The loop, the network and the disk.
        room("EventLoop", ["CLibevent"]),
        room("Subprocess"),
        room("HTTPServer", ["CLibevent", "CLinux", "EventLoop", "HTTPMessage", "SafeText"]),
        room("Origin", ["CLibcurl", "EventLoop", "HTTPMessage"]),
        room("Store", ["CLibcrypto", "CLinux", "HTTPMessage", "Orders", "SafeText", sqlite]),
        room("AccessLog", ["EventLoop", "SafeText"]),
        // Uses Origin: the commands' HTTP client is the one that fetches from origins.
        room("WeirAPI", ["AccessLog", "CLinux", "EventLoop", "HTTPMessage", "Orders", "Origin", "SafeText"]),
        room("PlaylistCheck", ["EventLoop", "HTTPMessage", "Origin", "HLS", "SafeText"]),
        // Assets and what is done with them.
        room("Playheads", ["EventLoop", "HLS"]),
        room("Fetching", ["EventLoop", "HTTPMessage", "Origin", "SegmentFormat", "Store"]),
        room(
            "Assets",
            [
                "EventLoop", "Fetching", "HTTPMessage", "Orders", "Origin", "Playheads", "HLS", "SafeText",
                "SegmentFormat", "Store",
            ]),
        room(
            "Extras",
            [
                "EventLoop", "Fetching", "HTTPMessage", "Assets", "Orders", "Origin", "HLS", "SafeText",
                "SegmentFormat",
                "Store",
            ]),
        room(
            "Substitution",
            ["EventLoop", "Fetching", "Assets", "Orders", "HLS", "SafeText", "SegmentFormat", "Store"]),
        room(
            "Retention",
            ["EventLoop", "Extras", "Fetching", "Assets", "Orders", "Playheads", "HLS", "SafeText", "Store"]),
        room(
            "Integrity",
            ["EventLoop", "Fetching", "Assets", "Orders", "Playheads", "HLS", "Retention", "Store"]),
        room(
            "Sharing",
            [
                "EventLoop", "Extras", "Fetching", "HTTPMessage", "Assets", "Orders", "Origin", "HLS", "PlaylistCheck",
                "SafeText", "Store", "Subprocess",
            ]),
        // The two uses of assets. They do not know each other: they meet in Fetching.
        room(
            "Downloads",
            [
                "EventLoop", "Extras", "Fetching", "HTTPMessage", "Integrity", "Assets", "Orders", "Origin",
                "Playheads",
                "HLS", "Retention", "SafeText", "Store",
            ]),
        // Channels, and their recordings at their times.
        room(
            "Recordings",
            [
                "Downloads", "EventLoop", "Fetching", "HTTPMessage", "Assets", "Orders", "Origin", "Playheads", "HLS",
                "Store",
            ]),
        room(
            "Sessions",
            [
                "AccessLog", "EventLoop", "Fetching", "HTTPMessage", "HTTPServer", "Assets", "Origin", "Playheads",
                "HLS", "SafeText",
            ]),
        room(
            "Playback",
            [
                "AccessLog", "EventLoop", "Extras", "Fetching", "HTTPMessage", "HTTPServer", "Assets", "Orders",
                "Origin", "Playheads", "HLS", "Retention", "SafeText", "SegmentFormat", "Sessions", "Store",
                "Substitution",
            ]),
        // The program.
        room(
            "Control",
            [
                "WeirAPI", "AccessLog", "CDocument", "CPage", "Downloads", "EventLoop", "Extras", "Sharing", "Fetching",
                "HTTPMessage",
                "HTTPServer", "Integrity", "Assets", "Orders", "Origin", "Playback", "Playheads", "HLS", "Recordings",
                "Retention", "SafeText", "SegmentFormat", "Sessions", "Store", "Substitution",
            ]),
        room(
            "Daemon",
            [
                "WeirAPI", "AccessLog", "CDocument", "CLinux", "Control", "Downloads", "EventLoop", "Sharing",
                "HTTPMessage",
                "HTTPServer",
                "Integrity", "Assets", "Orders", "Origin", "Playback", "HLS", "PlaylistCheck", "Recordings",
                "Retention",
                "SafeText", "Sessions", "Store", "Subprocess", "Substitution", logging, sqlite, toml,
            ]),
        // The commands use the API and the log's text; Daemon does what needs no daemon: CommandRuleTests.
        .executableTarget(
            name: "weir",
            dependencies: ["WeirAPI", "AccessLog", "Daemon", "CExecutor", "Orders", "SafeText", argumentParser],
            swiftSettings: strict),
        // What the tests share: an origin that misbehaves on demand, processes, players, frame hashes.
        .systemLibrary(name: "CTestSupport", path: "Tests/CTestSupport", providers: [.apt(["zlib1g-dev"])]),
        .target(
            name: "TestSupport", dependencies: ["CTestSupport", "Subprocess"], path: "Tests/TestSupport",
            swiftSettings: strict),
        // The rooms put together for tests: TestHouse.
        .target(
            name: "TestRooms",
            dependencies: [
                "Downloads", "EventLoop", "Sharing", "Fetching", "HTTPMessage", "HTTPServer", "Integrity", "Assets",
                "Orders", "Origin", "Playback", "HLS", "Retention", "Sessions", "Store", "Substitution", "TestSupport",
            ], path: "Tests/TestRooms", swiftSettings: strict),

        tests("HLSTests", ["HLS", "SafeText", "TestSupport"]),
        tests("HTTPMessageTests", ["HTTPMessage", "SafeText"]),
        tests("SafeTextTests", ["SafeText"]),
        tests("SegmentFormatTests", ["SegmentFormat", "TestSupport"]),
        tests("OrdersTests", ["Orders", "SafeText"]),
        tests("EventLoopTests", ["EventLoop"]),
        tests("HTTPServerTests", ["EventLoop", "HTTPMessage", "HTTPServer", "TestSupport"]),
        tests("OriginTests", ["EventLoop", "HTTPMessage", "Origin", "TestSupport"]),
        tests("StoreTests", ["Orders", "Store", "TestSupport", sqlite, sqliteLibrary]),
        tests("AccessLogTests", ["AccessLog", "EventLoop", "SafeText", "TestSupport"]),
        tests(
            "WeirAPITests", ["WeirAPI", "AccessLog", "EventLoop", "HTTPMessage", "Orders", "SafeText", "TestSupport"]),
        tests("PlaylistCheckTests", ["HTTPMessage", "Origin", "HLS", "PlaylistCheck", "TestSupport"]),
        tests("PlayheadsTests", ["EventLoop", "Playheads", "TestSupport"]),
        tests(
            "FetchingTests",
            [
                "EventLoop", "Fetching", "HTTPMessage", "Assets", "Origin", "HLS", "Store", "TestRooms",
                "TestSupport",
            ]),
        tests(
            "AssetsTests",
            [
                "EventLoop", "Extras", "Fetching", "HTTPMessage", "Integrity", "Assets", "Orders", "Origin",
                "Playheads",
                "HLS", "SafeText", "Store", "TestRooms", "TestSupport",
            ]),
        tests(
            "ExtrasTests",
            [
                "EventLoop", "Extras", "Fetching", "HTTPMessage", "Assets", "HLS", "SegmentFormat", "TestRooms",
                "TestSupport",
            ]),
        tests(
            "SubstitutionTests",
            [
                "EventLoop", "Fetching", "Assets", "Orders", "HLS", "SegmentFormat", "Substitution", "TestRooms",
                "TestSupport",
            ]),
        tests(
            "RetentionTests",
            [
                "EventLoop", "Sharing", "Fetching", "HTTPMessage", "Assets", "Orders", "Playheads", "Retention",
                "Store", "Substitution", "TestRooms", "TestSupport",
            ]),
        tests(
            "IntegrityTests",
            [
                "EventLoop", "Fetching", "Integrity", "Assets", "Orders", "Retention", "Store", "TestRooms",
                "TestSupport",
            ]),
        tests(
            "SharingTests",
            [
                "EventLoop", "Extras", "Sharing", "Fetching", "HTTPMessage", "Assets", "Orders", "Origin", "HLS",
                "Retention", "SegmentFormat", "Store", "Substitution", "TestRooms", "TestSupport",
            ]),
        tests(
            "DownloadsTests",
            [
                "Downloads", "EventLoop", "Fetching", "HTTPMessage", "Integrity", "Assets", "Orders", "Origin",
                "Playheads", "HLS", "Retention", "SafeText", "Store", "TestRooms", "TestSupport",
            ]),
        tests(
            "RecordingsTests",
            [
                "Downloads", "EventLoop", "Fetching", "HLS", "HTTPMessage", "Assets", "Orders", "Origin", "Recordings",
                "Store", "TestRooms", "TestSupport",
            ]),
        tests("SessionsTests", ["AccessLog", "Assets", "HTTPMessage", "Playheads", "Sessions"]),
        tests(
            "PlaybackTests",
            [
                "AccessLog", "Downloads", "EventLoop", "Fetching", "HTTPMessage", "HTTPServer", "Assets", "Orders",
                "Origin",
                "Playback",
                "Playheads", "HLS", "Retention", "SafeText", "SegmentFormat", "Sessions", "Store", "Substitution",
                "TestRooms", "TestSupport",
            ]),
        tests("TestSupportTests", ["TestSupport"]),
        tests(
            "ControlTests",
            [
                "WeirAPI", "AccessLog", "CDocument", "CPage", "Control", "Downloads", "EventLoop", "Sharing",
                "Fetching",
                "HTTPMessage", "HTTPServer", "Integrity", "Assets", "Orders", "Origin", "Playback", "Playheads",
                "Recordings", "Retention", "SafeText", "Store", "Substitution", "TestRooms", "TestSupport",
            ]),
        tests(
            "DaemonTests",
            [
                "WeirAPI", "Daemon", "Control", "Downloads", "HTTPMessage", "Assets", "Orders", "Origin", "HLS",
                "Recordings", "Store", "TestSupport", logging, sqlite,
            ]),
        // The real program, a real origin, real players.
        tests("EndToEndTests", ["TestSupport"]),
        tests(
            "WeirTests",
            [
                "weir", "WeirAPI", "AccessLog", "Daemon", "Control", "EventLoop", "Extras", "Sharing", "HTTPMessage",
                "HTTPServer", "Assets", "Orders", "Origin", "HLS", "Playback", "SafeText", "TestSupport",
                argumentParser,
            ]),
    ]
)
