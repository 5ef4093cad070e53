import Foundation
import WeirAPI

/// A file where a command needs a name or a URL.
enum LocalFile {
    /// Throws if a word is the path of a file. Names of assets have neither dots nor slashes.
    static func refuse(_ word: String) throws(APIError) {
        guard !PlayerURL.isURL(word), word.contains(where: { $0 == "." || $0 == "/" }),
            FileManager.default.fileExists(atPath: word)
        else { return }
        throw APIError(
            .noSuchAsset, "\(word) is a file, and this command takes a URL or the name of an asset",
            next: "weir open \(CommandFailure.quoted(word)), for the streams that a playlist names")
    }
}

extension FileHandle {
    /// Reads to the end, or to one byte above a limit, which shows that a file is too large.
    func readToEnd(limit: Int) throws -> Data {
        // At the end, the result of reading is nil.
        try read(upToCount: limit + 1) ?? Data()
    }
}
