public import API
public import EventLoop

/// The control API's access to the library and its downloads.
///
/// Every error is an `APIError`. Its message names the asset and the cause, and its `next` gives the next step.
@LoopActor public protocol ControlService: AnyObject, Sendable {
    /// All assets by name, and the play cache that they share: an `API.AssetList`, already encoded as JSON because it
    /// may be long.
    func assets(_ wish: API.ListWish) async throws(APIError) -> [UInt8]

    /// The asset of this name, with its playability. Throws `.noSuchAsset`.
    func asset(named name: String) async throws(APIError) -> API.Asset

    /// Replaces the asset's policy. Throws `.noSuchAsset`, `.badRequest` and errors of the store; then nothing has
    /// changed.
    func setPolicy(_ policy: API.Policy, ofAsset name: String) async throws(APIError) -> API.Asset

    /// Renames the asset, or changes its title. Throws `.noSuchAsset`, `.nameTaken` and errors of the store; then
    /// nothing has changed.
    func change(_ change: API.AssetChange, ofAsset name: String) async throws(APIError) -> API.Asset

    /// The network mode.
    func mode() async throws(APIError) -> API.Mode

    /// Changes the network mode until the daemon ends. A change to `offline` ends running fetches.
    func change(to mode: API.Mode) async throws(APIError) -> API.Mode

    /// Ends the asset's download, deletes its stored content and forgets it. Throws `.noSuchAsset`.
    ///
    /// Players keep the files that they have open.
    func removeAsset(named name: String) async throws(APIError) -> API.Removal

    /// Writes the complete part of an asset to a path outside the store. Throws `.noSuchAsset`, `.notWhole`,
    /// `.targetExists`, `.badTarget`, `.noProgram`, `.diskFull`. Has no deadline.
    func export(_ request: API.ExportRequest, ofAsset name: String) async throws(APIError) -> API.Export

    /// Creates an asset from a folder on the daemon's disk and returns its state. Throws `.badImport`, `.nameTaken`,
    /// `.diskFull`. Has no deadline.
    func importAsset(_ request: API.ImportRequest) async throws(APIError) -> API.Asset

    /// The asset's image. Throws `.noSuchAsset`, `.noArtwork`.
    func artwork(ofAsset name: String) async throws(APIError) -> API.Artwork

    /// Stores an image with an asset and replaces the former one. Throws `.notArtwork`; then nothing has changed.
    func keepArtwork(_ bytes: [UInt8], ofAsset name: String) async throws(APIError) -> API.Asset

    /// Reads the playlists at an origin URL without changing the store. Throws `.refusedURL`, `.notPlaylist`,
    /// `.badOrigin`, `.originAbsent`, `.offline`.
    func inspect(url: String) async throws(APIError) -> API.Presentation

    /// The tracks that a download would select, with reasons. Starts no download. Fetches only playlists, and for a
    /// known asset nothing at all. Throws the errors of `download` except `.live` and `.nameTaken`.
    func explain(_ request: API.DownloadRequest) async throws(APIError) -> API.Presentation

    /// Starts a download, restarts a stopped one, or attaches to a running one.
    ///
    /// Returns once the playlists are read and the selection is made, so the result has `selection` and `duration`.
    /// Throws `.badRequest` for a contradiction, `.live`, `.noMatch` (its message names the available tracks),
    /// `.nameTaken` and the errors of `inspect`.
    func download(_ request: API.DownloadRequest) async throws(APIError) -> API.Download

    /// All downloads in the order of the requests.
    func downloads() async throws(APIError) -> [API.Download]

    /// Pauses, resumes or cancels a download, and returns its new state. A complete download does not change.
    ///
    /// Throws `.noSuchDownload`, and `.unreadable` for the record of a newer Weir. If the request has a URL that does
    /// not lead to the asset, throws the errors of `inspect`, and nothing has changed.
    func change(_ change: API.DownloadChange, id: String, _ request: API.ResumeRequest) async throws(APIError)
        -> API.Download

    /// The state of a download. Throws `.noSuchDownload`. Cheap, because clients poll it a few times per second.
    func download(id: String) async throws(APIError) -> API.Download
}
