internal import Foundation

/// A text as a picture for a phone's camera, drawn with characters.
///
/// By qrencode, where that is installed: to encode such pictures is not what Weir is for.
public enum QRCode {
    /// The picture's lines, the last without its end; nil where there is no qrencode, or the text is too long.
    public static func lines(of text: String) -> String? {
        guard text.utf8.count <= longest else { return nil }
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let program = folders.map { "\($0)/qrencode" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let program else { return nil }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["-t", "UTF8", "-m", "2"]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        do {
            // By its standard input, for arguments are to be seen by every user. It fits into the pipe, and is written first:
            // to one that nobody reads any more would end this process.
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
