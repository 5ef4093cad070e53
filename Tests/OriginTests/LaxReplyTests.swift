import EventLoop
import HTTPMessage
import Origin
import Testing

extension OverSockets {
    /// Replies that are not valid HTTP, but that players read.
    @Suite @LoopActor struct LaxReplyTests {
        nonisolated private static let hello: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0, 0x86, 0xA6, 0x10, 0x36, 5, 0, 0,
            0,
        ]

        /// The last bytes of a file of 20, and of longer ones.
        @Test(
            arguments: [
                ("206 Partial\r\nContent-Range: bytes 10-20/20\r\nContent-Length: 10", "klmnopqrst", [0, 0]),
                ("206 Partial\r\nContent-Range: bytes 10-19/0\r\nContent-Length: 10", "klmnopqrst", [0, 0]),
                ("206 Partial\r\nContent-Range: bytes 10-19/10\r\nContent-Length: 10", "klmnopqrst", [0, 0]),
                ("206 Partial\r\nContent-Range: bytes 10-19/*\r\nContent-Length: 10", "klmnopqrst", [0, 0]),
                ("200 OK\r\nContent-Range: bytes 10-19/20\r\nContent-Length: 10", "klmnopqrst", [0, 0]),
                ("206 Partial\r\nContent-Range: bytes 10-25/26\r\nContent-Length: 16", "klmnopqrstuvwxyz", nil),
                ("206 Partial\r\nContent-Range: bytes 10-19/26\r\nContent-Length: 99", "klmnopqrst", [0, 1]),
                ("206 Partial\r\nContent-Range: bytes 10-19/26\r\nContent-Length: 5", "klmnopqrst", [0, 1, 2, 3]),
                ("206 Partial\r\nContent-Range: bytes 10-19/26\r\nContent-Length: none", "klmnopqrst", [0, 1, 2, 3]),
            ] as [(String, String, [Int]?)])
        func rangesAreReadByTheirFirstByte(head: String, body: String, connections: [Int]?) async throws {
            let origin = try ScriptedOrigin { _, _ in [.text("HTTP/1.1 \(head)\r\n\r\n\(body)")] }
            let bench = Bench()
            for _ in 0..<2 {
                var request = try bench.request(origin)
                request.range = 10..<20
                let (recorder, error) = await bench.run(request)
                #expect(error == nil && recorder.text == "klmnopqrst")
                #expect(recorder.heads.map(\.length) == [10])
            }
            // Bytes that have arrived with the last one may have ended the reply.
            if let connections {
                #expect(origin.requests.map(\.connection) == connections)
            }
        }

        /// Browsers read heads of up to 256 KB, which origins fill with cookies and policies.
        @Test(
            arguments: [(250, 1_000, nil), (200, 1, nil), (270, 1_000, OriginError.Code.malformedReply)]
                as [(Int, Int, OriginError.Code?)])
        func longHeadsAreRead(kilobytes: Int, count: Int, code: OriginError.Code?) async throws {
            let value = String(repeating: "v", count: kilobytes * 1024 / count - 20)
            // libcurl reads lines of at most 100 KB.
            let lines = count > 1 ? count : 2
            let fields = String(repeating: "X-Policy: \(value.prefix(99_000))\r\n", count: lines)
            let origin = try ScriptedOrigin { _, _ in
                [.text("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 5\r\n\r\nhello")]
            }
            let bench = Bench()
            var request = try bench.request(origin)
            request.retries = .never
            let (recorder, error) = await bench.run(request)
            #expect(error?.code == code)
            #expect(recorder.text == (code == nil ? "hello" : ""))
        }

        @Test func aRangeOfAnotherOffsetIsNeverDelivered() async throws {
            let origin = try ScriptedOrigin { _, _ in
                [.text("HTTP/1.1 200 OK\r\nContent-Range: bytes 0-25/26\r\nContent-Length: 10\r\n\r\nabcdefghij")]
            }
            let bench = Bench()
            var request = try bench.request(origin)
            request.range = 10..<20
            let (recorder, error) = await bench.run(request)
            #expect(error?.code == .rangeIgnored && recorder.bytes.isEmpty && recorder.heads.isEmpty)
        }

        /// Each origin closes the connection only if the request demands it.
        @Test(arguments: [
            ("ICY 200 OK\r\nContent-Type: video/mp2t\r\nContent-Length: 5\r\n\r\n", 1),
            ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", 2),
            ("HTTP/1.1 200 OK\r\nContent-Length: unknown\r\n\r\n", 2),
            ("HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n", 2),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 2),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\n", 1),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 0\r\n\r\n", 2),
        ])
        func aHeadWithAFaultIsRead(head: String, count: Int) async throws {
            let origin = try ScriptedOrigin { request, _ in
                [.text(head + "hello")] + (request.fields["connection"] == "close" ? [.close] : [])
            }
            let bench = Bench()
            let begun = ContinuousClock.now
            let (recorder, error) = await bench.run(try bench.request(origin))
            #expect(error == nil && recorder.text == "hello", "\(error?.description ?? "")")
            #expect(origin.requests.count == count)
            #expect(ContinuousClock.now - begun < .seconds(5))
        }

        /// The origin keeps the connection, and sends nothing more.
        @Test func aLengthInDoubtIsRightIfNothingFollows() async throws {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
            let origin = try ScriptedOrigin { _, _ in [.text(head + "hello"), .hold] }
            let bench = Bench()
            var request = try bench.request(origin)
            request.ignoresStatedLength = true
            request.deadline = .seconds(4)
            let (recorder, error) = await bench.run(request)
            #expect(error == nil && recorder.text == "hello" && origin.requests.count == 1)
            #expect(recorder.heads.map(\.statedLength) == [5] && recorder.heads.map(\.end) == [.length])
        }

        @Test func bytesBehindALengthInDoubtAreDelivered() async throws {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
            let origin = try ScriptedOrigin { _, _ in [.text(head + "hello"), .text(" world"), .close] }
            let bench = Bench()
            var request = try bench.request(origin)
            request.ignoresStatedLength = true
            let (recorder, error) = await bench.run(request)
            #expect(error == nil && recorder.text == "hello world" && origin.requests.count == 1)
        }

        @Test func aLengthOf0OfAChunkedBodyIsIgnored() async throws {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n"
            let origin = try ScriptedOrigin { _, _ in [.text(head + "5\r\nhello\r\n0\r\n\r\n")] }
            let bench = Bench()
            let begun = ContinuousClock.now
            let (recorder, error) = await bench.run(try bench.request(origin))
            #expect(error == nil && recorder.text == "hello" && origin.requests.count == 1)
            #expect(ContinuousClock.now - begun < .seconds(5))
        }

        @Test func anEmptyBodyBehindAnObsoleteTransferEncodingEnds() async throws {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 0\r\n\r\n"
            let origin = try ScriptedOrigin { request, _ in
                [.text(head)] + (request.fields["connection"] == "close" ? [.close] : [])
            }
            let bench = Bench()
            let begun = ContinuousClock.now
            let (recorder, error) = await bench.run(try bench.request(origin))
            #expect(error == nil && recorder.bytes.isEmpty, "\(error?.description ?? "")")
            #expect(ContinuousClock.now - begun < .seconds(5))
        }

        @Test(arguments: ["gzip", "gzip, chunked"])
        func aCompressedTransferIsDecoded(coding: String) async throws {
            let body =
                coding == "gzip" ? Self.hello : Array("19\r\n".utf8) + Self.hello + Array("\r\n0\r\n\r\n".utf8)
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\n\r\n"
            let origin = try ScriptedOrigin { _, _ in [.bytes(Array(head.utf8) + body), .close] }
            let bench = Bench()
            let (recorder, error) = await bench.run(try bench.request(origin))
            #expect(error == nil && recorder.text == "hello", "\(error?.description ?? "")")
        }

        @Test func aTransferThatIsNotCompressedAsStatedIsRefused() async throws {
            let origin = try ScriptedOrigin { _, _ in
                [.text("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nhello"), .close]
            }
            let bench = Bench()
            let (recorder, error) = await bench.run(try bench.request(origin))
            #expect(error?.code == .unsupportedEncoding && recorder.bytes.isEmpty)
            #expect(origin.requests.count == 2)
        }

        @Test(arguments: [
            ("HTTP/1.1 200 OK\r\nX-Fault\r\nContent-Length: 5\r\n\r\nhello", "has no colon"),
            ("SSH-2.0-Server\r\n", "status line"),
        ])
        func aHeadThatCannotBeReadIsReportedAtOnce(reply: String, cause: String) async throws {
            let origin = try ScriptedOrigin { _, _ in [.text(reply), .close] }
            let bench = Bench()
            let (_, error) = await bench.run(try bench.request(origin))
            #expect(error?.code == .malformedReply && error?.description.contains(cause) ?? false, "\(error as Any)")
            #expect(origin.requests.count == 1)
        }
    }
}
