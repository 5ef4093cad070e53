import ArgumentParser

/// The endings of files that users may expect from an export, and that would become folders.
enum ExportEnding {
    private static let others: Set<String> = [
        "zip", "gz", "tgz", "xz", "zst", "7z", "rar", "webm", "avi", "mov", "m4v", "m2ts", "mpg", "mpeg", "flv",
        "wmv", "ogg", "mp3", "aac", "m3u8", "m3u",
    ]

    /// Throws for an ending that no export has.
    /// - Parameter way: how to get a folder of that name.
    static func check(_ ending: String, otherwise way: String) throws {
        let ending = ending.lowercased()
        guard others.contains(ending) else { return }
        throw ValidationError(
            "no export is made as .\(ending): end the target in .tar, .mkv, .mp4 or .ts, for the sound alone in .mka or .m4a, or for the subtitles in .srt; \(way)"
        )
    }
}
