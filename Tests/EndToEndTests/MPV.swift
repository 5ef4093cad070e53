import Foundation
import Glibc
import TestSupport
import Testing

/// A windowless mpv controlled by JSON IPC.
final class MPV {
    let process: ChildProcess
    private let folder: TemporaryFolder
    private var connection: Int32 = -1
    private var received: [UInt8] = []
    private var last = 0

    /// - Parameter options: options of the script.
    init(_ arguments: [String], _ weir: WeirProcess, _ options: [String: String] = [:], hasScript: Bool = true) throws {
        folder = try TemporaryFolder()
        // A busy machine is slow; another test covers Weir's time limit.
        let all = ["program": Repository.builtProgram("weir"), "state": weir.state, "patience": "20"]
            .merging(options) { $1 }
        let words = all.sorted { $0.key < $1.key }.map { "weir-\($0.key)=\($0.value)" }.joined(separator: ",")
        process = try ChildProcess(
            "mpv",
            [
                "--no-config", "--vo=null", "--ao=null", "--ytdl=no", "--load-scripts=no", "--script-opts=\(words)",
                "--input-ipc-server=\(folder.path("ipc"))",
            ] + (hasScript ? ["--script=" + Repository.path("conf/mpv/weir.lua")] : []) + arguments,
            environment: ["HOME": folder.path, "WEIR_STATE": "", "WEIR_LISTEN": "", "XDG_CONFIG_HOME": folder.path])
    }

    deinit { if connection >= 0 { close(connection) } }

    func get(_ property: String) async throws -> Any? { try await command(["get_property", property]) }

    /// Keys with a binding.
    func keys() async throws -> Set<String> {
        let bindings = try await get("input-bindings") as? [[String: Any]] ?? []
        return Set(bindings.compactMap { $0["key"] as? String })
    }

    /// Sends a command and returns the data of the response.
    @discardableResult
    func command(_ words: [String]) async throws -> Any? {
        try await connect()
        last += 1
        let line = try JSONSerialization.data(withJSONObject: ["command": words, "request_id": last]) + [10]
        let sent = line.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard sent == line.count else { throw SystemCallError("send") }
        var answer: [String: Any]?
        try await waitUntil("mpv's answer to \(words)") {
            answer = try lines().first { $0["request_id"] as? Int == last }
            return answer != nil
        }
        return answer?["data"]
    }

    private func connect() async throws {
        guard connection < 0 else { return }
        connection = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(folder.path("ipc").utf8)) }
        try await waitUntil("mpv's socket") {
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(connection, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                }
            }
        }
    }

    /// The complete lines received since the last call.
    private func lines() throws -> [[String: Any]] {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = recv(connection, &bytes, bytes.count, Int32(MSG_DONTWAIT)), count > 0 {
            received += bytes.prefix(count)
        }
        guard let end = received.lastIndex(of: 10) else { return [] }
        let whole = received[...end].split(separator: 10)
        received = Array(received[(end + 1)...])
        return try whole.compactMap { try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any] }
    }
}
