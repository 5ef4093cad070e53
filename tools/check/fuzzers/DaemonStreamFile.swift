// sources: Sources/Daemon/Streams/StreamFile.swift Sources/Daemon/Streams/StreamFileEntry.swift Sources/Daemon/Configuration/TimeSpan.swift Sources/Daemon/Configuration/TOMLText.swift Sources/Daemon/Configuration/TOMLFlaw.swift Sources/Daemon/Configuration/ConfigurationError.swift
// rooms: as built
import Assets
import Glibc

/// A streams file is read or refused with a line that it has; its streams are written so that they read as the same, and an entry is
/// removed with all others and all comments left.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    let entry = "[[stream]]\nname = \"a\"\nurl = \"https://h/a\"\n"
    check(text)
    check(entry + text)
    check("\(entry)title = \"\(text)\"\n")
    check("\(entry)headers = [\(text)]\n")
    check("\(text)\n\(entry)")
    return 0
}

private func check(_ text: String) {
    let streams: [KnownStream]
    do throws(ConfigurationError) {
        streams = try StreamFile(text, path: "f").streams
    } catch {
        guard case .file("f", let line) = error.source else { preconditionFailure("an error without its file") }
        let count = text.utf8.count { $0 == 0x0A } + 1
        precondition((1...count).contains(line ?? 1), "line \(line ?? 0) of \(count)")
        return
    }
    precondition(Set(streams.map(\.name)).count == streams.count, "a name twice")
    precondition(Set(streams.map(\.url)).count == streams.count, "a URL twice")
    let written = streams.map(StreamFile.text).joined(separator: "\n")
    let ofWindows = written.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
    precondition((try? StreamFile(written, path: "f"))?.streams == streams, "streams that read as others")
    for stream in streams.prefix(4) {
        let others = streams.filter { $0 != stream }
        for written in [written, ofWindows] {
            guard let rest = StreamFile.removing(stream, from: written, path: "f") else {
                preconditionFailure("an entry that cannot be removed")
            }
            precondition((try? StreamFile(rest, path: "f"))?.streams == others, "others than the rest")
        }
        guard let left = StreamFile.removing(stream, from: text, path: "f") else { continue }
        precondition((try? StreamFile(left, path: "f"))?.streams == others, "others than the rest")
        // Within a text of several lines there may be lines that look like comments.
        let hasLongText = text.contains("\"\"\"") || text.contains("'''")
        precondition(hasLongText || comments(left) == comments(text), "a comment is lost")
    }
}

/// The number of comments on lines of their own.
private func comments(_ text: String) -> Int {
    text.utf8.split(separator: 0x0A).count { $0.first { $0 != 0x20 && $0 != 0x09 } == UInt8(ascii: "#") }
}
