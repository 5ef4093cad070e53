import EventLoop
import Foundation
import Glibc
import HTTPMessage
import Synchronization

/// Content codings, over a socket: the first byte of an input chooses the coding and the framing, the rest is the body. Every
/// transfer ends, no body grows beyond the ratio, and a body that is not decoded is delivered as it is.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let data, count > 1, let server = Server.shared else { return 0 }
    let coding = codings[Int(data[0]) % codings.count]
    let body = [UInt8](UnsafeBufferPointer(start: data + 1, count: count - 1))
    server.answer(body, coding, isChunked: data[0] & 0x80 != 0)
    let isPlaylist = data[0] & 0x40 != 0
    let semaphore = DispatchSemaphore(value: 0)
    Task { @LoopActor in
        let receiver = Receiver { semaphore.signal() }
        var request = OriginRequest(server.url)
        request.namedPeer = OriginRequest.Peer(of: server.url)
        request.acceptsCompression = isPlaylist
        Receiver.client.start(request, receiver: receiver)
    }
    precondition(semaphore.wait(timeout: .now() + 8) == .success, "a transfer does not end")
    let got = server.received.withLock { $0 }
    precondition(got.count <= 100 * (body.count + 2 * 16 * 1024), "\(got.count) bytes out of \(body.count)")
    precondition(
        !["", "utf-8"].contains(coding) || !got.isSuccess || got.count == body.count, "other bytes than those sent")
    return 0
}

private let codings = [
    "gzip", "deflate", "br", "zstd", "gzip, gzip", "br, gzip", "", "utf-8", "utf-8, gzip", "zstd, zstd, zstd",
]

private final class Receiver: TransferReceiver {
    @LoopActor static let client: OriginClient = {
        var configuration = OriginClient.Configuration()
        configuration.bufferSize = 16 * 1024
        configuration.giveUpRule.retries = .never
        return OriginClient(configuration: configuration)
    }()

    private var count = 0
    private let ended: @Sendable () -> Void

    init(_ ended: @escaping @Sendable () -> Void) { self.ended = ended }

    func transfer(_ transfer: Transfer, received head: OriginHead) {}

    func transfer(_ transfer: Transfer, received bytes: UnsafeRawBufferPointer, at offset: Int64) {
        count = Int(offset) + bytes.count
    }

    func transfer(_ transfer: Transfer, ended result: Result<Void, OriginError>) {
        let isSuccess = if case .success = result { true } else { false }
        Server.shared?.received.withLock { [count] in $0 = (count, isSuccess) }
        ended()
    }
}

/// Answers each request with the present reply, one connection at a time.
private final class Server: Sendable {
    static let shared = Server()
    let url: WebURL
    let received = Mutex((count: 0, isSuccess: false))
    private let reply = Mutex<[UInt8]>([])

    private init?() {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port: UInt16? = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                guard bind(listener, $0, size) == 0, listen(listener, 16) == 0, getsockname(listener, $0, &size) == 0
                else {
                    return nil
                }
                return UInt16(bigEndian: pointer.pointee.sin_port)
            }
        }
        guard let port, let url = try? WebURL("http://127.0.0.1:\(port)/x") else { return nil }
        self.url = url
        Thread.detachNewThread { [self] in
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                Thread.detachNewThread { [self] in serve(connection) }
            }
        }
    }

    func answer(_ body: [UInt8], _ coding: String, isChunked: Bool) {
        let field = coding.isEmpty ? "" : "Content-Encoding: \(coding)\r\n"
        let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(body.count)"
        let head = Array("HTTP/1.1 200 OK\r\n\(field)\(framing)\r\n\r\n".utf8)
        let chunk = Array((String(body.count, radix: 16) + "\r\n").utf8)
        reply.withLock { $0 = head + (isChunked ? chunk + body + Array("\r\n0\r\n\r\n".utf8) : body) }
    }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        var (input, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 4096))
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            input += buffer[..<count]
            guard input.suffix(4).elementsEqual([0x0D, 0x0A, 0x0D, 0x0A]) else { continue }
            input = []
            var rest = reply.withLock { $0 }[...]
            while !rest.isEmpty {
                let sent = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard sent > 0 else { return }
                rest = rest.dropFirst(sent)
            }
        }
    }
}
