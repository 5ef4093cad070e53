package import API
package import EventLoop

/// The control API's access to the library and its downloads. After an error nothing has changed.
@LoopActor package protocol ControlService: AnyObject, Sendable {
    /// An `API.AssetList`, already encoded as JSON because it may be long.
    func assets(_ query: API.AssetQuery) async throws(APIError) -> [UInt8]
    /// The asset of this name, with its playability. Throws `.noSuchAsset`.
    func asset(named name: String) async throws(APIError) -> API.Asset
    func setPolicy(_ policy: API.Policy, ofAsset name: String) async throws(APIError) -> API.Asset
    /// Looks for other content at the origin, and fetches it beside the old if there is any.
    func update(assetNamed name: String) async throws(APIError) -> API.Asset
    /// Fetches the beginning of the asset into the play cache. Returns once it is stored. Throws `.noMatch`.
    func cache(_ request: API.CacheRequest, ofAsset name: String) async throws(APIError) -> API.Asset
    /// Attaches a file of the daemon's disk to the asset as a track. Throws `.badTrack`, `.offline`.
    func attach(_ request: API.AttachRequest, toAsset name: String) async throws(APIError) -> API.Attachment
    /// Removes an attached track. Throws `.noSuchTrack`.
    func detach(_ id: String, fromAsset name: String) async throws(APIError) -> API.Detachment
    /// Renames the asset, or changes its title, image or header fields. Throws `.nameTaken`.
    func change(_ change: API.AssetChange, ofAsset name: String) async throws(APIError) -> API.Asset
    func mode() async throws(APIError) -> API.Mode
    /// Changes the network mode until the daemon ends. A change to `offline` ends running fetches.
    func change(to mode: API.Mode) async throws(APIError) -> API.Mode
    /// Ends the asset's download and deletes the asset. Players keep the files that they have open.
    func removeAsset(named name: String) async throws(APIError) -> API.Removal
    /// Writes the complete part of an asset to a path outside the store. Throws `.incomplete`, `.targetExists`,
    /// `.badTarget`, `.noProgram`. Has no deadline.
    func export(_ request: API.ExportRequest, ofAsset name: String) async throws(APIError) -> API.Export
    /// Imports a folder on the daemon's disk. Throws `.badImport`, `.nameTaken`. Has no deadline.
    func importAsset(_ request: API.ImportRequest) async throws(APIError) -> API.Asset
    /// The asset's image. Throws `.noSuchAsset`, `.noArtwork`.
    func artwork(ofAsset name: String) async throws(APIError) -> API.Artwork
    /// Stores an image with an asset and replaces the former one. Throws `.notArtwork`; then nothing has changed.
    func setArtwork(_ bytes: [UInt8], ofAsset name: String) async throws(APIError) -> API.Asset
    /// Reads the playlists at an origin URL without changing the store.
    func inspect(url: String) async throws(APIError) -> API.Presentation
    /// The tracks that a download would select, with reasons. Fetches only playlists, and for a known asset nothing.
    func explain(_ request: API.DownloadRequest) async throws(APIError) -> API.Presentation
    /// Opens the asset of a URL or a name, with header fields and cookies for its origin.
    func open(_ request: API.PresentationRequest) async throws(APIError) -> API.Presentation
    /// Starts a download, restarts a stopped one, or attaches to a running one. Returns once the selection is made.
    /// Throws `.badRequest` for a contradiction, `.live`, `.noMatch`, `.nameTaken`.
    func download(_ request: API.DownloadRequest) async throws(APIError) -> API.Download
    /// All downloads in the order of the requests.
    func downloads() async throws(APIError) -> [API.Download]
    /// Changes a download, unless it is complete. Throws `.unreadable` for the record of a newer Weir.
    func change(_ change: API.DownloadChange, id: String, _ request: API.ResumeRequest) async throws(APIError)
        -> API.Download
    /// The state of a download. Throws `.noSuchDownload`. Cheap, because clients poll it a few times per second.
    func download(id: String) async throws(APIError) -> API.Download
}
