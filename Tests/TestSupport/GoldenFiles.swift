package import Foundation

/// A file in `fixtures/golden` with many texts, which have an empty line between them.
///
/// With `WEIR_WRITE_GOLDEN=1` the file is written; look at the difference before it is committed.
package struct GoldenBlocks {
    private let path: String

    /// - Parameter name: the file's name in `fixtures/golden`.
    package init(_ name: String) { path = Repository.path("fixtures/golden/" + name) }

    /// Compares texts, each of which ends with a line feed, with those of the file. Returns each that differs with that of the file.
    package func differences(from blocks: [String]) throws -> [String] {
        let text = blocks.joined(separator: "\n")
        if ProcessInfo.processInfo.environment["WEIR_WRITE_GOLDEN"] == "1" {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        }
        let golden = try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n\n")
        let found = text.components(separatedBy: "\n\n")
        var differences: [String] = []
        if golden.count != found.count {
            differences.append("\(path) has \(golden.count) texts, and these are \(found.count)")
        }
        for (wanted, found) in zip(golden, found) where wanted != found {
            differences.append("\(found)\nnot as in \(path):\n\(wanted)")
        }
        return differences
    }
}

/// The files of a folder in `fixtures/golden`, one for each text that the code writes and that others read: shapes of the API,
/// stored records and rows, events, lines of `--json`.
///
/// With `WEIR_WRITE_GOLDEN=1` the files are written; look at the difference before it is committed.
package struct GoldenFiles {
    private let folder: String

    /// - Parameter name: the folder's name in `fixtures/golden`.
    package init(_ name: String) { folder = Repository.path("fixtures/golden/" + name) }

    /// Compares texts, by their names, with the files. Returns a sentence for each that differs, for each text without a file,
    /// and for each file without a text.
    package func differences(from texts: [String: String]) throws -> [String] {
        if ProcessInfo.processInfo.environment["WEIR_WRITE_GOLDEN"] == "1" {
            try write(texts)
        }
        let files = Set(try FileManager.default.contentsOfDirectory(atPath: folder))
        let unknown = files.subtracting(texts.keys).sorted().map { "\(folder)/\($0) belongs to nothing: delete it" }

        return unknown
            + texts.sorted { $0.key < $1.key }.compactMap { name, text in
                guard files.contains(name) else { return "\(name) has no file in \(folder): \(text)" }
                let golden = try? String(contentsOfFile: folder + "/" + name, encoding: .utf8)
                return golden == text ? nil : "\(name) is not as in \(folder): \(text)"
            }
    }

    private func write(_ texts: [String: String]) throws {
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, text) in texts {
            try text.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8)
        }
    }

    /// JSON with a line for each value, so that a difference is one of lines.
    package static func lines(ofJSON data: Data) throws -> String {
        let value = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        let text = try JSONSerialization.data(withJSONObject: value, options: options.union(.fragmentsAllowed))
        return String(decoding: text, as: UTF8.self) + "\n"
    }
}
