import ArgumentParser
import Foundation
import Synchronization

/// Values of options that come from a file or from standard input, because other users see command lines in the list of
/// processes. No message repeats them.
enum SecretLines {
    /// The lines of the file for `@FILE`, as curl has it; any other value is the only line.
    ///
    /// A file is read once, since it may be a pipe and options are read twice.
    static func of(_ value: String, _ option: String) throws -> [String] {
        guard value.hasPrefix("@") else { return [value] }
        let path = String(value.dropFirst())
        return try known.withLock { known in
            if let lines = known[path] {
                return lines
            }
            let file = FileHandle(forReadingAtPath: path)
            guard let data = try? file?.readToEnd(limit: limit) else {
                throw ValidationError("\(option) \(value): the file cannot be read")
            }
            guard data.count <= limit else { throw ValidationError("\(option) \(value): the file is over 64 KB") }
            let lines = lines(data)
            if lines.isEmpty {
                throw ValidationError("\(option) \(value): the file is empty")
            }
            known[path] = lines
            return lines
        }
    }

    /// The lines of standard input.
    static let standardInput: [String] = lines(FileHandle.standardInput.readDataToEndOfFile())

    private static func lines(_ data: Data) -> [String] {
        String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
    }

    private static let known = Mutex<[String: [String]]>([:])
    /// The limit of an API body.
    private static let limit = 64 << 10
}
