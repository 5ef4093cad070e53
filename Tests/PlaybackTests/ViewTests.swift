import Assets
import EventLoop
import Foundation
import Glibc
import Orders
import Origin
import TestRooms
import TestSupport
import Testing

@testable import Playback

/// The listed variants, by stored pieces, kind of session, and origin presence.
@Suite @LoopActor struct ViewTests {
    /// Plays one rendition of an entry completely.
    private func watch(_ fixture: TestHouse, _ entry: String, _ index: Int = 0) async throws {
        for path in try await fixture.media(entry, index) {
            #expect(try await fixture.get(path).status == 200)
        }
    }

    /// The renditions that an entry lists, in order.
    private func listed(_ fixture: TestHouse, _ entry: String) async throws -> [String] {
        try await fixture.entry(entry).map { String($0.split(separator: "/")[3]) }
    }

    private static let all = ["video-90p", "video-180p", "video-270p"]

    @Test func completeVariantsAreListedFirstOrAlone() async throws {
        let fixture = try await TestHouse(.playback())
        let url = fixture.typed("/ts/master.m3u8")
        #expect(try await listed(fixture, url) == Self.all)
        #expect(try await listed(fixture, "/local" + url) == Self.all)
        try await watch(fixture, url, 1)
        #expect(try await listed(fixture, url) == ["video-180p", "video-90p", "video-270p"])
        for entry in ["/local" + url, "/offline" + url, "/ts.m3u8", "/local/ts.m3u8", "/offline/ts.m3u8"] {
            #expect(try await listed(fixture, entry) == ["video-180p"], "\(entry)")
        }
        try await watch(fixture, url, 1)
        #expect(try await listed(fixture, url) == Self.all)
    }

    /// A choice in the URL leaves out all other tracks, and what it does not mention stays.
    @Test(arguments: [
        ("quality=180p", ["video-180p", "audio-en", "audio-fr", "subtitles-en"]),
        ("quality=worst&audio=fr&subs=none", ["video-90p", "audio-fr"]),
        ("audio=fr", ["video-90p", "video-180p", "video-270p", "audio-fr", "subtitles-en"]),
        ("where=height%3C200&subs=none", ["video-180p", "audio-en", "audio-fr"]),
        ("audio=none&quality=best", ["video-270p", "subtitles-en"]),
    ])
    func aChoiceListsItsTracksAlone(choice: String, tracks: [String]) async throws {
        let fixture = try await TestHouse(.playback())
        let url = fixture.typed("/cmaf/master.m3u8")
        let folders = ["video-90p", "video-180p", "video-270p", "audio-en", "audio-fr", "subtitles-en"]
        let text = try await fixture.get("/select/\(choice)\(url)").text
        #expect(folders.filter { text.contains("/\($0)/") } == tracks, "\(text)")
        // The next session without a choice has everything.
        let whole = try await fixture.get(url).text
        #expect(folders.allSatisfy { whole.contains("/\($0)/") }, "\(whole)")
    }

    @Test func aChoiceByNamePlaysWhatIsStoredOnlyIfThatIsChosen() async throws {
        let fixture = try await TestHouse(.playback())
        try await watch(fixture, fixture.typed("/ts/master.m3u8"), 1)
        #expect(try await listed(fixture, "/ts.m3u8") == ["video-180p"])
        #expect(try await listed(fixture, "/select/quality=270p/ts.m3u8") == ["video-270p"])
        #expect(try await listed(fixture, "/select/quality=180p/offline/ts.m3u8") == ["video-180p"])
        let absent = try await fixture.get("/select/quality=270p/offline/ts.m3u8")
        #expect(absent.status == 404)
        #expect(absent.text.contains("nothing of that choice is completely stored of ts"), "\(absent.text)")
    }

    @Test func aChoiceThatNothingMeetsHasAReason() async throws {
        let fixture = try await TestHouse(.playback())
        let url = fixture.typed("/cmaf/master.m3u8")
        let unknown = try await fixture.get("/select/audio=ja\(url)")
        #expect(
            unknown.status == 404 && unknown.text.contains("no sound in \"ja\"; there is en, fr"), "\(unknown.text)")
        let unreadable = try await fixture.get("/select/quality=720\(url)")
        #expect(unreadable.status == 400 && unreadable.text.contains("did you mean 720p?"), "\(unreadable.text)")
    }

    @Test func aLocalSessionStreamsWithoutCompleteVariants() async throws {
        let fixture = try await TestHouse(.playback())
        let entry = "/local" + fixture.typed("/ts/master.m3u8")
        let segments = try await fixture.media(entry, 2)
        #expect(segments[0].split(separator: "/")[2].hasPrefix("l"))
        #expect(try await fixture.get(segments[0]).status == 200)
        #expect(try await fixture.mediaPaths() == ["/ts/270p/0.ts"])
    }

    @Test func anOfflineSessionByURLMakesNoRequest() async throws {
        let fixture = try await TestHouse(.playback())
        let unknown = try await fixture.get("/offline" + fixture.typed("/ts/master.m3u8"))
        #expect(unknown.status == 404 && unknown.text.contains("not in the store"), "\(unknown.text)")
        #expect(try await fixture.origin.requests().isEmpty)
        try await watch(fixture, fixture.typed("/ts/master.m3u8"))
        // A complete rendition is compared with the origin's once more.
        try await waitUntil("the comparison") { try await fixture.origin.requests().contains(where: \.isComparison) }
        try await fixture.origin.clearRequests()
        try await watch(fixture, "/offline" + fixture.typed("/ts/master.m3u8"))
        #expect(try await fixture.origin.requests().isEmpty)
    }

    @Test func offlineModeAppliesToEverySession() async throws {
        let fixture = try await TestHouse(.playback())
        let url = fixture.typed("/ts/master.m3u8")
        try await watch(fixture, url, 2)
        let segment = try await fixture.media(url, 1)[0]
        fixture.library.mode = .local
        #expect(try await listed(fixture, url) == ["video-270p"])
        fixture.library.mode = .offline
        #expect(try await listed(fixture, url) == ["video-270p"])
        try await fixture.origin.clearRequests()
        let refused = try await fixture.get(segment)
        #expect(refused.status == 404 && refused.text.contains("Weir is offline"))
        #expect(try await fixture.get(fixture.typed("/aes/master.m3u8")).status == 404)
        #expect(try await fixture.origin.requests().isEmpty)
        fixture.library.mode = .auto
        #expect(try await fixture.get(segment).status == 200)
        #expect(try await listed(fixture, url).count == 3)
    }

    // MARK: Absence

    @Test func anAbsentOriginIsAwaitedOnceAndDetectedWhenBack() async throws {
        let fixture = try await TestHouse(.absence(.milliseconds(200)), .playback())
        let url = fixture.typed("/ts/master.m3u8")
        try await watch(fixture, url, 2)
        let other = try await fixture.media(url, 1)
        try await fixture.stopOrigin()
        // Two requests detect the absence. Later requests that do not need the origin do not wait for it.
        for path in other.suffix(2) {
            #expect(try await fixture.get(path).status == 504)
        }
        #expect(try await listed(fixture, url) == ["video-270p"])
        try await watch(fixture, url)
        #expect(try await listed(fixture, url) == ["video-270p"])
        try await fixture.origin.restart()
        // Without a request, the origin's return is detected.
        try await waitUntil("the origin") { !fixture.client.isPresumedAbsent(try fixture.asset("ts").origin) }
        let probes = try await fixture.origin.requests().map(\.range)
        #expect(probes == ["bytes=0-0"])
        #expect(try await listed(fixture, url).count == 3)
        // A session that began before plays on.
        #expect(try await fixture.get(other[0]).status == 200)
    }

    @Test func aSilentOriginDelaysOnlyTheFirstLoad() async throws {
        let fixture = try await TestHouse(.absence(.seconds(600)), .playback())
        let url = fixture.typed("/ts/master.m3u8")
        try await watch(fixture, url, 2)
        try await fixture.stopOrigin()
        let hole = try BlackHole(port: fixture.origin.port)
        try await waitUntil("the view without the origin") { try await listed(fixture, url) == ["video-270p"] }
        // For the playlist, a look at the host, and comparisons of what was just played.
        #expect((1...4).contains(hole.connections()))
        for _ in 0..<20 {
            #expect(try await listed(fixture, url) == ["video-270p"])
        }
        try await watch(fixture, url)
        #expect(hole.connections() == 0)
    }

    @Test func partialVariantsAreListedAtOnce() async throws {
        let fixture = try await TestHouse(.absence(.seconds(600)), .playback())
        let url = fixture.typed("/ts/master.m3u8")
        for path in try await fixture.media(url, 2).prefix(3) {
            #expect(try await fixture.get(path).status == 200)
        }
        fixture.client.presumeAbsent(after: .init(try fixture.asset("ts").origin))
        try await fixture.origin.clearRequests()
        #expect(try await listed(fixture, url) == ["video-270p"])
        #expect(try await fixture.media(url).count == 3)
        #expect(try await fixture.origin.requests().isEmpty)
    }

    @Test func anAssetWithoutPiecesIsListedDespiteAPresumedAbsence() async throws {
        let fixture = try await TestHouse(.absence(.seconds(600)), .playback())
        let url = fixture.typed("/ts/master.m3u8")
        _ = try await fixture.entry(url)
        fixture.client.presumeAbsent(after: .init(try fixture.asset("ts").origin))
        #expect(try await listed(fixture, url).count == 3)
        #expect(try await listed(fixture, fixture.typed("/audio/master.m3u8")).count == 2)
    }
}

/// A port that accepts connections and never responds.
private final class BlackHole {
    private let descriptor: Int32

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound, listen(descriptor, 64) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }

    /// Number of new connections since the last call. They stay open.
    func connections() -> Int {
        var count = 0
        while accept(descriptor, nil, nil) >= 0 {
            count += 1
        }
        return count
    }
}
