import Foundation
import TestSupport

/// A minimal nginx that serves a folder without Weir, or is in front of one.
struct PlainServer: Sendable {
    private let folder: TemporaryFolder
    private let process: ChildProcess
    private let port: Int

    /// Serves the folder `root`.
    ///
    /// - Parameters:
    ///   - recipe: further lines of the server's configuration.
    ///   - weir: the address to which the recipe's requests go, in place of `127.0.0.1:8216`.
    init(root: String, recipe: String = "", weir: String = "") async throws {
        folder = try TemporaryFolder()
        let file = try folder.write(Data(recipe.replacing("127.0.0.1:8216", with: weir).utf8), to: "recipe")
        port = try Self.freePort()
        let configuration = """
            daemon off; master_process off; pid \(folder.path("pid")); error_log \(folder.path("log"));
            events {}
            http {
                access_log off;
                client_body_temp_path \(folder.path("body")); proxy_temp_path \(folder.path("proxy"));
                fastcgi_temp_path \(folder.path("fastcgi")); uwsgi_temp_path \(folder.path("uwsgi"));
                scgi_temp_path \(folder.path("scgi"));
                server { listen 127.0.0.1:\(port); root \(root); include \(file); }
            }
            """
        try Data(configuration.utf8).write(to: URL(filePath: folder.path("nginx.conf")))
        process = try ChildProcess(
            "nginx", ["-p", folder.path, "-c", folder.path("nginx.conf"), "-e", folder.path("log")])
        let url = self.url("/")
        let process = process
        try await waitUntil("nginx") {
            if process.exit != nil {
                throw TimedOut("nginx ended: \(process.standardError)")
            }
            return (try? await HTTPProbe.fetch(url)) != nil
        }
    }

    /// The URL of a path below the root.
    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Finds a free port, because nginx does not accept port 0.
    static func freePort() throws -> Int {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isFound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isFound else { throw TimedOut("a free port") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
