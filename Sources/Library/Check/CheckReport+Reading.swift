import HTTPMessage

/// Checks of a presentation as a player would find it: of its playlists, and of no media.
extension CheckReport {
    /// Asks the origin for the playlist, and for all that it names.
    ///
    /// - Parameter text: as the user wrote it: its host and port may be private.
    /// - Throws: `LibraryError` for what is no URL.
    public static func ofURL(_ text: String) async throws(LibraryError) -> CheckReport {
        let url: WebURL
        do {
            url = try WebURL(text)
        } catch {
            throw LibraryError(.refusedURL, "\(error)", underlying: error)
        }
        return await PresentationReader(source: OriginCheckSource(entry: url)).run()
    }

    /// Reads a file, and what it names in its folder and below; nothing else is opened.
    public static func ofFile(_ path: String) async -> CheckReport {
        await PresentationReader(source: FolderCheckSource(path: path)).run()
    }
}
