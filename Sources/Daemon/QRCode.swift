internal import Foundation

/// Draws a text as a QR code with characters, by the program qrencode.
package enum QRCode {
    /// The lines of the picture; nil without qrencode, or if the text is too long.
    package static func lines(of text: String) -> String? {
        guard text.utf8.count <= longest else { return nil }
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let program = folders.map { "\($0)/qrencode" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let program else { return nil }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["-t", "UTF8", "-m", "2"]
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        do {
            // The text goes through standard input, because other users can see a program's arguments. It fits into the
            // pipe, and is written before qrencode starts: a write to a pipe without a reader would end this process.
            try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
            try input.fileHandleForWriting.close()
            try process.run()
        } catch {
            return nil
        }
        let picture = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { return nil }
        return String(decoding: picture, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// Capacity of version 40 at the lowest error correction, in bytes.
    private static let longest = 2_953
}
