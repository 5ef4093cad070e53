import EventLoop
import Foundation
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

/// Answers of an origin that are not what they say.
@Suite("A segment whose answer") @LoopActor struct MisstatedBodyTests {
    /// In each body that is no media.
    nonisolated private static let mark = "hostile-8f3a61"

    private func start() async throws -> (TestHouse, Asset, Rendition, whole: [UInt8]) {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        let whole = Array(try Repository.fixture("/ts/90p/1.ts"))
        return (fixture, asset, try await fixture.rendition("video-90p", of: asset), whole)
    }

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let change: @Sendable (inout OriginRule) -> Void

        init(_ description: String, _ change: @escaping @Sendable (inout OriginRule) -> Void) {
            testDescription = description
            self.change = change
        }

        /// A status, fields and a text in place of the segment.
        init(_ description: String, _ status: Int, _ headers: [String: String], _ body: String = mark) {
            self.init(description) { ($0.status, $0.headers, $0.body) = (status, headers, body) }
        }

        static func redirect(_ target: String) -> Case { Case("is a redirect to \(target)") { $0.redirect = target } }
    }

    nonisolated private static let cases = [
        Case("has a length of 2^63 - 1") { ($0.status, $0.body, $0.contentLength) = (200, mark, .max) },
        Case("has a negative length") { ($0.status, $0.body, $0.contentLength) = (200, mark, -5) },
        Case("is half of it, with the length of all") { $0.cutAfter = 10_000 },
        Case("is a part that was not asked for", 206, ["Content-Range": "bytes 0-4999/100000"]),
        Case("is a page as the right part", 206, ["Content-Range": "bytes 0-19/20"], "<html>" + mark),
        Case(
            "has several parts", 206, ["Content-Type": "multipart/byteranges; boundary=b"],
            "--b\r\n\r\n\(mark)\r\n--b--"),
        Case("is gzip in words alone", 200, ["Content-Encoding": "gzip"]),
        Case("has a coding that nobody knows", 200, ["Content-Encoding": "x-none, gzip, br"]),
        Case("is a page in gzip") { ($0.status, $0.gzip, $0.body) = (200, true, "<html>" + mark) },
        .redirect("file:///etc/passwd"), .redirect("gopher://127.0.0.1:1/x"), .redirect("http://10.0.0.1/x.ts"),
        .redirect("http://127.0.0.1:22/x.ts"), .redirect("http://169.254.169.254/latest/meta-data/"),
        .redirect("?again"),
        .redirect("/a%0d%0aX: 1"),
    ]

    @Test("misstates what it is becomes no piece that is not the segment", arguments: cases)
    func becomesNoPiece(_ example: Case) async throws {
        let (fixture, asset, rendition, whole) = try await start()
        try await fixture.origin.add(OriginRule("/ts/90p/1.ts", example.change))
        let fetch = try fixture.fetch(1, of: rendition, in: asset, urgency: .background)
        defer { fetch.release() }
        let result = await fetch.result()
        #expect(!fetch.isPiece || fetch.bytes == whole, "\(result)")
        #expect(rendition.folder.sizes.values.allSatisfy { $0 == Int64(whole.count) })
        #expect(try await fixture.origin.requests(for: "/ts/90p/1.ts").count > 0)
    }

    nonisolated private static let numbers = [
        "-1", "9223372036854775807", "18446744073709551616", String(repeating: "9", count: 400), "1e308", "0x10", "",
    ]

    @Test(
        "has a number in a field that no field means is used or asked for again",
        arguments: [
            ("Age", "N"), ("Retry-After", "N"), ("Cache-Control", "max-age=N"), ("Content-Range", "bytes 0-N/N"),
            ("Content-Range", "bytes N-N/*"), ("Date", "Thu, 01 Jan N 00:00:00 GMT"),
            ("Last-Modified", "Thu, 01 Jan N 00:00:00 GMT"), ("Set-Cookie", "a=b; Max-Age=N"),
            ("Keep-Alive", "timeout=N, max=N"), ("Alt-Svc", "h3=\":443\"; ma=N"),
        ])
    func numberInAField(_ name: String, _ value: String) async throws {
        for number in Self.numbers {
            let (fixture, asset, rendition, whole) = try await start()
            let field = [name: value.replacing("N", with: number)]
            try await fixture.origin.add(
                OriginRule("*.ts") { ($0.times, $0.status, $0.headers) = (1, 503, field) },
                OriginRule("*") { $0.headers = field })
            for _ in 0..<2 {
                let fetch = try fixture.fetch(1, of: rendition, in: asset, urgency: .background)
                let result = await fetch.result()
                #expect(!fetch.isPiece || fetch.bytes == whole, "\(field): \(result)")
                fetch.release()
            }
        }
    }
}
