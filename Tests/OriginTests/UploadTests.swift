import EventLoop
import Foundation
import HTTPMessage
import TestSupport
import Testing

@testable import Origin

@Suite("Upload of a file")
struct UploadTests {
    /// A signed PUT of a file with these bytes.
    private func request(_ port: UInt16, _ bytes: Data, in folder: TemporaryFolder) throws -> OriginRequest {
        let path = try folder.write(bytes, to: "file")
        let url = try WebURL("http://127.0.0.1:\(port)/bucket/file")
        var request = OriginRequest(url)
        request.method = .put
        request.file = OutgoingFile(taking: open(path, O_RDONLY), size: Int64(bytes.count))
        request.fields = [FieldLine(Array("x-amz-content-sha256: UNSIGNED-PAYLOAD".utf8))].compactMap { $0 }
        request.signature = RequestSignature(accessKey: "access", secretKey: "secret", region: "eu-test-1")
        request.namedPeer = OriginRequest.Peer(of: url)
        request.isRepeatable = true
        request.acceptsRefusals = true
        return request
    }

    private func reply(_ status: Int) -> [ScriptedOrigin.Step] {
        [.text("HTTP/1.1 \(status) Said\r\nContent-Length: 2\r\n\r\nno")]
    }

    @Test("repeats the whole body after a transient failure, and delivers a refusal with its body")
    @LoopActor func retries() async throws {
        let folder = try TemporaryFolder()
        let origin = try ScriptedOrigin { _, number in
            number == 0
                ? [.text("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")] : number == 1 ? [.reset] : reply(403)
        }
        let bytes = Data((0..<5_000).map { UInt8($0 % 251) })
        let (head, body) = try await OriginClient().fetch(try request(origin.port, bytes, in: folder))
        #expect(head.status == 403 && body == Array("no".utf8))
        let requests = origin.requests
        #expect(requests.count == 3)
        for request in requests {
            #expect(request.method == "PUT" && request.fields["content-length"] == "5000")
            #expect(request.fields["authorization"]?.hasPrefix("AWS4-HMAC-SHA256 Credential=access/") == true)
        }
    }

    @Test("follows no redirect, since its signature is for one host")
    @LoopActor func redirect() async throws {
        let folder = try TemporaryFolder()
        let origin = try ScriptedOrigin { _, _ in
            [.text("HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n")]
        }
        var request = try request(origin.port, Data([1]), in: folder)
        #expect(try await OriginClient().fetch(request).0.status == 307)
        request.method = .get
        request.file = nil
        #expect(try await OriginClient().fetch(request).0.status == 307)
        #expect(origin.requests.count == 2)
    }

    @Test("fails at once if the file is too short, and a signature shows no secret")
    @LoopActor func short() async throws {
        let folder = try TemporaryFolder()
        let origin = try ScriptedOrigin { _, _ in reply(200) }
        var request = try request(origin.port, Data([1, 2, 3]), in: folder)
        request.file = OutgoingFile(taking: open(folder.path("file"), O_RDONLY), size: 9)
        await #expect(throws: OriginError.self) { _ = try await OriginClient().fetch(request) }
        #expect(!"\(request)".contains("secret"))
    }
}
