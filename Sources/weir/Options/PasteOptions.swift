import ArgumentParser
import Foundation
import WeirAPI

/// The option for a curl command of a browser. Its header fields are secrets, and no message repeats them.
struct PasteOptions {
    let curl: String?

    /// The command of the option, or among the words of the command line; nil for other sources.
    func order(_ sources: [String]) throws -> CurlOrder? {
        if let curl {
            return try CurlOrder(text: try Self.text(of: curl))
        }
        guard CurlOrder.isMeant(by: sources) else { return nil }
        return try CurlOrder(sources)
    }

    func check(_ sources: [String]) throws {
        if curl != nil, !sources.isEmpty {
            throw ValidationError("--curl has the URL: give no other.")
        }
    }

    private static func text(of path: String) throws -> String {
        let file = path == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: path)
        guard let data = try? file?.readToEnd(limit: limit) else {
            throw CommandFailure(
                "\(path) cannot be read", next: "give an existing file", exitCode: 66, code: "no-command")
        }
        guard data.count <= limit else {
            throw CommandFailure(
                "the pasted command is over \(limit >> 10) KB", next: "copy one request only", exitCode: 65,
                code: "bad-request")
        }
        return String(decoding: data, as: UTF8.self)
    }

    private static let limit = 256 << 10
}
