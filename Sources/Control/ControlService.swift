public import API
public import EventLoop

/// The library and its downloads, as the control API uses them.
///
/// Every error is a `APIError` whose message names the asset and the cause, and whose `next` says what to try.
@LoopActor public protocol ControlService: AnyObject, Sendable {
    /// Assets, by name, and the play cache that they share: an `API.AssetList` as JSON, for it may be long.
    func assets(_ wish: API.ListWish) async throws(APIError) -> [UInt8]

    /// The asset of this name, with whether it is playable; `.noSuchAsset` when there is none.
    func asset(named name: String) async throws(APIError) -> API.Asset

    /// Gives the asset another policy, in the place of the one before; `.noSuchAsset`, `.badRequest`, and those of the
    /// store, and nothing is changed then.
    func setPolicy(_ policy: API.Policy, ofAsset name: String) async throws(APIError) -> API.Asset

    /// Gives the asset another name, or another title; `.noSuchAsset`, `.nameTaken`, and those of the store, and nothing
    /// is changed then.
    func change(_ change: API.AssetChange, ofAsset name: String) async throws(APIError) -> API.Asset

    /// The network mode.
    func mode() async throws(APIError) -> API.Mode

    /// Changes how origins are asked, until the daemon ends. What is under way ends where that is not at all.
    func change(to mode: API.Mode) async throws(APIError) -> API.Mode

    /// Ends the asset's download, deletes what is stored of it and forgets it; `.noSuchAsset` when there is none.
    ///
    /// Players that are in the middle of it keep what they have open.
    func removeAsset(named name: String) async throws(APIError) -> API.Removal

    /// Writes what is whole of an asset to a place outside of the store; `.noSuchAsset`, `.notWhole`, `.targetExists`,
    /// `.badTarget`, `.noProgram`, `.diskFull`. Takes as long as it takes.
    func export(_ request: API.ExportRequest, ofAsset name: String) async throws(APIError) -> API.Export

    /// Makes an asset of a folder on the daemon's disk, and gives it as it then stands; `.badImport`, `.nameTaken`,
    /// `.diskFull`. Takes as long as it takes.
    func importAsset(_ request: API.ImportRequest) async throws(APIError) -> API.Asset

    /// The image that is kept with an asset; `.noSuchAsset`, `.noArtwork`.
    func artwork(ofAsset name: String) async throws(APIError) -> API.Artwork

    /// Keeps an image with an asset, in the place of the one before; `.notArtwork`, and nothing is changed then.
    func keepArtwork(_ bytes: [UInt8], ofAsset name: String) async throws(APIError) -> API.Asset

    /// Reads the playlists at an origin URL and changes nothing; `.refusedURL`, `.notPlaylist`, `.badOrigin`,
    /// `.originAbsent`, `.offline`.
    func inspect(url: String) async throws(APIError) -> API.Presentation

    /// What a download would choose and why, and starts none; nothing of the presentation is fetched but playlists, and
    /// of a known asset's not even these. Throws what `download` does, but for `.live` and `.nameTaken`.
    func explain(_ request: API.DownloadRequest) async throws(APIError) -> API.Presentation

    /// Starts a download, starts a stopped one again, or attaches to one under way.
    ///
    /// Returns once the playlists were read and the selection was made, so that the answer has `selection` and
    /// `duration`; and `.badRequest` for a contradiction, `.live`, `.noMatch` (with what exists in the message),
    /// `.nameTaken` and those of `inspect` are thrown here.
    func download(_ request: API.DownloadRequest) async throws(APIError) -> API.Download

    /// All downloads, in the order in which they were asked for.
    func downloads() async throws(APIError) -> [API.Download]

    /// Changes what becomes of a download, and gives it as it then stands: one that is complete stays so.
    ///
    /// `.noSuchDownload` when there is none, `.unreadable` for one that a newer Weir noted; with a URL, those of
    /// `inspect` where that does not lead to the asset, and nothing is changed then.
    func change(_ change: API.DownloadChange, id: String, _ request: API.ResumeRequest) async throws(APIError)
        -> API.Download

    /// A download as it stands; `.noSuchDownload` when there is none. Cheap: asked a few times a second.
    func download(id: String) async throws(APIError) -> API.Download
}
