internal import Assets
internal import Control
internal import Foundation
internal import Glibc
internal import Recordings
internal import WeirAPI

/// The streams file of a running daemon, read and written on another thread.
struct UserStreams: StreamStore {
    let configuration: Configuration

    func read() async throws(APIError) -> [KnownStream] {
        try await onThread { configuration throws(APIError) in try Self.streams(configuration) }
    }

    func append(_ streams: [KnownStream]) async throws(APIError) -> [KnownStream] {
        try await onThread { configuration throws(APIError) in
            let texts = streams.map { StreamFile.text(of: $0) }
            try Self.append(texts.joined(separator: "\n"), to: configuration.streamsFile)
            return try Self.streams(configuration)
        }
    }

    func append(_ list: KnownList) async throws(APIError) -> [KnownList] {
        try await onThread { configuration throws(APIError) in
            // An entry behind one that is not valid would not be read.
            _ = try Self.file(configuration)
            try Self.append(StreamFile.text(of: list), to: configuration.streamsFile)
            return try Self.file(configuration).lists
        }
    }

    func remove(list: String) async throws(APIError) -> [KnownList] {
        try await onThread { configuration throws(APIError) in
            let path = configuration.streamsFile
            guard let rest = StreamFile.removing(list: list, from: try Self.text(at: path), path: path) else {
                throw APIError(
                    .cannotWrite,
                    "the entry of the list \(list) is not removed: Weir does not find its lines in \(path)",
                    next: "delete it with an editor")
            }
            try Self.write(rest, to: path)
            return try Self.file(configuration).lists
        }
    }

    private static func append(_ text: String, to path: String) throws(APIError) {
        let old = try Self.text(at: path)
        var gap = ""
        if !old.isEmpty {
            gap = old.hasSuffix("\n") ? "\n" : "\n\n"
        }
        try write(old + gap + text, to: path)
    }

    func remove(_ stream: KnownStream) async throws(APIError) -> [KnownStream] {
        try await onThread { configuration throws(APIError) in
            let path = configuration.streamsFile
            guard let rest = StreamFile.removing(stream, from: try Self.text(at: path), path: path) else {
                throw APIError(
                    .cannotWrite, "the entry of \(stream.name) is not removed: Weir does not find its lines in \(path)",
                    next: "delete it with an editor")
            }
            try Self.write(rest, to: path)
            return try Self.streams(configuration)
        }
    }

    private func onThread<Value: Sendable>(
        _ body: @escaping @Sendable (Configuration) throws(APIError) -> Value
    ) async throws(APIError) -> Value {
        let task = Task.detached { [configuration] () -> Result<Value, APIError> in
            do throws(APIError) { return .success(try body(configuration)) } catch { return .failure(error) }
        }
        return try await task.value.get()
    }

    private static func streams(_ configuration: Configuration) throws(APIError) -> [KnownStream] {
        try file(configuration).streams
    }

    private static func file(_ configuration: Configuration) throws(APIError) -> StreamFile {
        do throws(ConfigurationError) {
            return try configuration.streamFile()
        } catch {
            // A file that --streams names is made by the first entry.
            if access(configuration.streamsFile, F_OK) != 0, errno == ENOENT {
                return StreamFile()
            }
            throw APIError(.cannotWrite, "nothing is added to \(error)", next: error.next, underlying: error)
        }
    }

    /// The text of the file; empty if there is none.
    private static func text(at path: String) throws(APIError) -> String {
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            if access(path, F_OK) != 0, errno == ENOENT {
                return ""
            }
            throw APIError(
                .cannotWrite, "nothing is added to the streams file \(path), which cannot be read",
                next: "make it a file in UTF-8 that the daemon can read", underlying: error)
        }
    }

    /// Replaces the file at once, and keeps its mode. A link stays, and leads to the new file.
    private static func write(_ text: String, to path: String) throws(APIError) {
        let target = realpath(path, nil).map { name in
            defer { free(name) }
            return String(cString: name)
        }
        let file = target ?? path
        var status = stat()
        // Header fields may be secrets.
        let mode = stat(file, &status) == 0 ? status.st_mode & 0o7777 : 0o600
        let folder = (file as NSString).deletingLastPathComponent
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let draft = file + ".new"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw failure(path) }
        var bytes = Array(text.utf8)[...]
        var isWritten = fchmod(descriptor, mode) == 0
        while isWritten, !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            isWritten = count > 0 || errno == EINTR
            bytes = bytes.dropFirst(max(0, count))
        }
        isWritten = isWritten && fsync(descriptor) == 0
        let error = failure(path)
        close(descriptor)
        guard isWritten else {
            unlink(draft)
            throw error
        }
        guard rename(draft, file) == 0 else { throw failure(path) }
    }

    private static func failure(_ path: String) -> APIError {
        APIError(
            .cannotWrite, "the streams file \(path) cannot be written: \(String(cString: strerror(errno)))",
            next: "name a file that the daemon can write: streams = \"FILE\" in weir.toml")
    }
}
