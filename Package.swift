// swift-tools-version: 6.2

import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// The rooms of the house, lowest first. An arrow may only point up this list.
let package = Package(
    name: "weir",
    targets: [
        .systemLibrary(name: "CLibevent", pkgConfig: "libevent libevent_pthreads", providers: [.apt(["libevent-dev"])]),
        .systemLibrary(name: "CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(name: "Playlist", swiftSettings: strict),
        .target(name: "HTTPMessage", swiftSettings: strict),
        .target(name: "EventLoop", dependencies: ["CLibevent"], swiftSettings: strict),
        .testTarget(name: "PlaylistTests", dependencies: ["Playlist"], swiftSettings: strict),
        .testTarget(name: "HTTPMessageTests", dependencies: ["HTTPMessage"], swiftSettings: strict),
        .testTarget(name: "EventLoopTests", dependencies: ["EventLoop"], swiftSettings: strict),
    ]
)
