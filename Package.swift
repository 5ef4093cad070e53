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
let toml = Target.Dependency.product(name: "TOMLKit", package: "TOMLKit")

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
        // The page's files, as bytes.
        .target(name: "CPage", exclude: ["files", "page.png"]),
        // The API's document, conf/openapi.json, as bytes: the compiler has #embed, where SwiftPM's .embedInCode takes minutes.
        .target(name: "CDocument"),
        room("Playlist"),
        room("HTTPMessage"),
        room("SegmentFormat"),
        room("EventLoop", ["CLibevent"]),
        room("HTTPServer", ["CLibevent", "EventLoop", "HTTPMessage"]),
        room("Origin", ["CLibcurl", "EventLoop", "HTTPMessage"]),
        room("Store", ["HTTPMessage", "CLibcrypto", "CLinux", sqlite]),
        room("PlaylistCheck", ["EventLoop", "HTTPMessage", "Origin", "Playlist"]),
        room("Fetching", ["EventLoop", "HTTPMessage", "Origin", "SegmentFormat", "Store"]),
        room(
            "Library",
            ["EventLoop", "Fetching", "HTTPMessage", "Playlist", "PlaylistCheck", "SegmentFormat", "Origin", "Store"]),
        room("Retention", ["EventLoop", "Fetching", "Library", "Store"]),
        room("Integrity", ["EventLoop", "Fetching", "Library", "Playlist", "Retention", "Store"]),
        room("Downloader", ["EventLoop", "Fetching", "Integrity", "Library", "Playlist", "Retention", "Store"]),
        room(
            "Playback",
            [
                "EventLoop", "Fetching", "HTTPMessage", "HTTPServer", "Library", "Playlist", "Retention",
                "SegmentFormat",
            ]),
        // Uses Origin as well: the command line is a client of the API, and has no other HTTP client.
        room(
            "Control",
            [
                "CDocument", "CPage", "EventLoop", "Fetching", "HTTPMessage", "HTTPServer", "Origin", "Playlist",
                "Store", "Library", "Retention", "Integrity", "Downloader", "Playback",
            ]),
        room(
            "Application",
            [
                "EventLoop", "HTTPMessage", "HTTPServer", "Origin", "Playlist", "PlaylistCheck", "Store", "Library",
                "Retention", "Integrity", "Downloader", "Playback", "Control",
                logging, toml,
            ]),
        // The commands have the API (Control) and no room below it, but for Playback's words of the log; what needs no daemon
        // is Application's: CommandRuleTests.
        .executableTarget(
            name: "weir", dependencies: ["Application", "Control", "Playback", argumentParser], swiftSettings: strict),
        // What the tests share: an origin that misbehaves on demand, processes, players, frame hashes.
        room("TestSupport"),

        tests("PlaylistTests", ["Playlist"]),
        tests("HTTPMessageTests", ["HTTPMessage"]),
        tests("SegmentFormatTests", ["SegmentFormat", "TestSupport"]),
        tests("EventLoopTests", ["EventLoop"]),
        tests("HTTPServerTests", ["HTTPServer", "EventLoop", "HTTPMessage", "TestSupport"]),
        tests("OriginTests", ["Origin", "EventLoop", "HTTPMessage", "TestSupport"]),
        tests("StoreTests", ["Store", "TestSupport"]),
        tests("FetchingTests", ["Fetching", "HTTPMessage", "TestSupport"]),
        tests("PlaylistCheckTests", ["PlaylistCheck", "HTTPMessage", "Origin", "Playlist", "TestSupport"]),
        tests(
            "LibraryTests",
            [
                "Library", "EventLoop", "Fetching", "HTTPMessage", "Integrity", "Origin", "Playlist", "Retention",
                "SegmentFormat", "Store", "TestSupport",
            ]),
        tests("RetentionTests", ["Retention", "Fetching", "Library"]),
        tests(
            "DownloaderTests",
            [
                "Downloader", "EventLoop", "Fetching", "HTTPMessage", "Integrity", "Library", "Origin", "Playlist",
                "Retention", "Store", "TestSupport",
            ]),
        tests(
            "PlaybackTests",
            [
                "Playback", "EventLoop", "Fetching", "HTTPMessage", "HTTPServer", "Library", "Origin", "Playlist",
                "Retention", "SegmentFormat", "Store", "TestSupport",
            ]),
        tests("TestSupportTests", ["TestSupport"]),
        tests(
            "ControlTests",
            [
                "Control", "Downloader", "EventLoop", "Fetching", "HTTPMessage", "HTTPServer", "Integrity", "Library",
                "Origin",
                "Playback", "Retention", "Store", "TestSupport",
            ]),
        tests("ApplicationTests", ["Application", "HTTPMessage", "Library", "TestSupport", logging]),
        // The real program, a real origin, real players.
        tests("EndToEndTests", ["TestSupport"]),
        tests(
            "WeirTests",
            ["weir", "Application", "Control", "EventLoop", "HTTPServer", "Playback", "TestSupport", argumentParser]),
    ]
)
