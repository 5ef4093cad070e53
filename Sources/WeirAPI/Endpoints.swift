package import AccessLog
internal import HTTPMessage
package import Orders

/// The table of all operations of the API. `conf/openapi.json` documents each; a test compares them.
package enum Endpoints {
    // MARK: Assets

    /// All assets, sorted by name, in pages.
    package static let assets = Endpoint<API.Nothing, API.AssetList>(
        .get, "/assets", query: API.AssetQuery.keys, phones: true)
    /// Imports a folder of the daemon's disk as an asset; returns at the end. Throws `.badImport`, `.nameTaken`.
    package static let importAsset = Endpoint<API.ImportRequest, API.Asset>(
        .post, "/assets", status: 201, isLong: true, readsHandedInFiles: true)
    /// The asset of a name, with its playability. Throws `.noSuchAsset`.
    package static let asset = Endpoint<API.Nothing, API.Asset>(.get, "/assets/{name}", phones: true)
    /// Renames an asset, or changes its title, image or header fields. Throws `.nameTaken`.
    package static let changeAsset = Endpoint<API.AssetChange, API.Asset>(.patch, "/assets/{name}")
    /// Ends an asset's download and deletes the asset. Players keep the files that they have open.
    package static let removeAsset = Endpoint<API.Nothing, API.Removal>(
        .delete, "/assets/{name}", query: ["wait"], isLong: true)
    package static let artwork = Endpoint<API.Nothing, API.Bytes>(.get, "/assets/{name}/artwork", phones: true)
    /// Its artwork, or else a picture of what is stored of it, which ffmpeg makes. Throws `.noArtwork`.
    package static let poster = Endpoint<API.Nothing, API.Bytes>(
        .get, "/assets/{name}/poster", phones: true, isLong: true)
    /// Starts the user's player for an asset, as `weir play` does. Throws what that says if it fails at once.
    package static let play = Endpoint<API.Nothing, API.Asset>(.post, "/assets/{name}/play", isLong: true)
    /// Stores an image with an asset and replaces the former one. Throws `.notArtwork`; then nothing has changed.
    package static let setArtwork = Endpoint<API.Bytes, API.Asset>(.put, "/assets/{name}/artwork", hasLongBody: true)
    package static let policy = Endpoint<API.Nothing, StoragePolicy>(.get, "/assets/{name}/policy")
    package static let setPolicy = Endpoint<StoragePolicy, API.Asset>(.put, "/assets/{name}/policy")
    /// Notes where a player has left an asset. Does nothing without a history.
    package static let setPosition = Endpoint<API.Position, API.Asset>(.put, "/assets/{name}/position")
    /// Writes the complete part of an asset to a path outside the store; returns at the end. Throws `.incomplete`,
    /// `.targetExists`, `.badTarget`, `.noProgram`.
    package static let export = Endpoint<API.ExportRequest, API.Export>(.post, "/assets/{name}/export", isLong: true)
    /// Looks for other content at the asset's origin, and fetches it beside the old if there is any.
    package static let update = Endpoint<API.Nothing, API.Asset>(.post, "/assets/{name}/update", isLong: true)
    /// Fetches the beginning of an asset into the play cache. Returns once it is stored. Throws `.noMatch`.
    package static let cache = Endpoint<API.CacheRequest, API.Asset>(.post, "/assets/{name}/cache", isLong: true)
    /// Attaches a file of the daemon's disk to an asset as a track. Throws `.badTrack`, `.offline`.
    package static let attach = Endpoint<API.AttachRequest, API.Attachment>(
        .post, "/assets/{name}/tracks", isLong: true, readsHandedInFiles: true)
    /// Removes an attached track. Throws `.noSuchTrack`.
    package static let detach = Endpoint<API.Nothing, API.Detachment>(.delete, "/assets/{name}/tracks/{id}")

    // MARK: Keys

    /// The state of an asset's keys, without key material.
    package static let keys = Endpoint<API.Nothing, API.KeyList>(.get, "/assets/{name}/keys")
    /// Renews, revokes or dates keys. Throws `.noSuchKey`, and for a renewal the error of the fetch.
    package static let orderKeys = Endpoint<API.KeyOrder, API.KeyList>(.post, "/assets/{name}/keys", isLong: true)
    /// The keys of all assets that have any, by the assets' names.
    package static let allKeys = Endpoint<API.Nothing, API.KeyLists>(.get, "/keys")
    /// Revokes the keys of all assets.
    package static let orderAllKeys = Endpoint<API.KeyOrder, API.KeyLists>(.post, "/keys")

    // MARK: Jobs

    package static let verification = JobEndpoints<API.Verification>()
    package static let publication = JobEndpoints<API.Publication>()
    package static let move = JobEndpoints<API.Move>()

    // MARK: Downloads

    /// Opens the asset of a URL or a name for players, with header fields and cookies for its origin.
    package static let open = Endpoint<API.PresentationRequest, API.Presentation>(.post, "/presentation")
    /// The presentation at the origin URL `url`. Changes nothing in the store.
    package static let presentation = Endpoint<API.Nothing, API.Presentation>(.get, "/presentation", query: ["url"])
    /// The presentation that a player of the source would get, with `offline` from the store alone. Throws what a download would
    /// throw, and `.offline` if it plays only from its origin.
    package static let playable = Endpoint<API.DownloadRequest, API.Presentation>(
        .post, "/playable", query: ["offline"])
    /// The tracks that a download would select, with reasons. Fetches only playlists, and for a known asset nothing.
    package static let selection = Endpoint<API.DownloadRequest, API.Presentation>(.post, "/selection", phones: true)
    /// All downloads in the order of the requests.
    package static let downloads = Endpoint<API.Nothing, API.DownloadList>(.get, "/downloads", phones: true)
    /// Starts a download, restarts a stopped one, or attaches to a running one. Returns once the selection is made. Throws
    /// `.badRequest` for a contradiction, `.live`, `.noMatch`, `.nameTaken`.
    package static let addDownload = Endpoint<API.DownloadRequest, API.Download>(
        .post, "/downloads", status: 202, phones: true)
    /// The state of a download. Throws `.noSuchDownload`. Cheap, because clients poll it a few times per second.
    package static let download = Endpoint<API.Nothing, API.Download>(.get, "/downloads/{id}", phones: true)
    /// Pauses, resumes or cancels a download, unless it is complete. Throws `.unreadable` for the record of a newer Weir.
    package static func changeDownload(_ change: API.DownloadChange) -> Endpoint<API.ResumeRequest, API.Download> {
        Endpoint(.post, "/downloads/{id}/\(change.rawValue)", phones: true, withoutBody: API.ResumeRequest())
    }

    // MARK: Planned recordings

    package static let recordings = Endpoint<API.Nothing, API.RecordingList>(.get, "/recordings")
    /// Plans recordings of a channel, whose origin need not answer before. Throws `.badRequest` for times that make no sense.
    package static let addRecording = Endpoint<API.RecordingRequest, API.ScheduledRecording>(
        .post, "/recordings", status: 201)
    /// Gives a planned recording other times. Throws `.noSuchAsset`, `.badRequest`.
    package static let changeRecording = Endpoint<API.RecordingTimes, API.ScheduledRecording>(
        .put, "/recordings/{name}")
    /// Forgets a planned recording, and returns it. What is recorded stays. Throws `.noSuchAsset`.
    package static let cancelRecording = Endpoint<API.Nothing, API.ScheduledRecording>(.delete, "/recordings/{name}")

    // MARK: Channel lists

    package static let lists = Endpoint<API.Nothing, API.ChannelLists>(.get, "/lists")
    /// Adds a channel list to the streams file, and reads it; one that is known is read again. Throws `.badOrigin` for one that cannot be
    /// read; then nothing has changed.
    package static let addList = Endpoint<API.ChannelListRequest, API.ChannelList>(
        .post, "/lists", status: 201, isLong: true)
    /// Reads a channel list now. Throws `.noSuchAsset`, and `.badOrigin` for one that cannot be read; then it stays as it was.
    package static let refreshList = Endpoint<API.Nothing, API.ChannelList>(
        .post, "/lists/{name}/refresh", isLong: true)
    /// Forgets a channel list; the assets of its channels stay. Throws `.noSuchAsset`.
    package static let removeList = Endpoint<API.Nothing, API.Removal>(.delete, "/lists/{name}")
    /// The channels of all lists, by name.
    package static let channels = Endpoint<API.Nothing, API.Channels>(.get, "/channels", query: ["find", "limit"])

    // MARK: Sessions

    package static let sessions = Endpoint<API.Nothing, API.SessionList>(.get, "/sessions", phones: true)
    /// Records a report of a player. Throws `.noSuchSession` if no running session has this id.
    package static let report = Endpoint<PlayerReport, SessionSummary>(.put, "/sessions/{session}/report")
    /// The picture of a session, named by its id or UUID. Throws `.noSuchSession` if the log does not know it.
    package static let picture = Endpoint<API.Nothing, API.Bytes>(.get, "/sessions/{session}/picture", query: ["width"])
    /// The access log. Throws `.noSuchAsset` for an asset that neither the library nor the log knows; so do the next three.
    package static let accessLog = Endpoint<API.Nothing, API.Log<AccessEvent>>(.get, "/log", query: LogQuery.keys)
    package static let errorLog = Endpoint<API.Nothing, API.Log<ErrorEvent>>(.get, "/log/errors", query: LogQuery.keys)
    package static let timelines = Endpoint<API.Nothing, API.Log<SessionTimeline>>(
        .get, "/log/sessions", query: LogQuery.keys)
    package static let kpis = Endpoint<API.Nothing, API.KPIReport>(.get, "/kpis", query: LogQuery.keys)

    // MARK: The daemon

    /// The stream of events, beginning with a snapshot.
    package static let events = Endpoint<API.Nothing, API.Bytes>(.get, "/events", phones: true)
    package static let mode = Endpoint<API.Nothing, API.Mode>(.get, "/mode", phones: true)
    /// Changes the network mode until the daemon ends. A change to `offline` ends running fetches.
    package static let setMode = Endpoint<API.Mode, API.Mode>(.put, "/mode")
    /// The rate that all downloads together may have.
    package static let limit = Endpoint<API.Nothing, API.Limit>(.get, "/limit")
    /// Changes that rate until the daemon ends.
    package static let setLimit = Endpoint<API.Limit, API.Limit>(.put, "/limit")
    /// Totals of the store and its disk.
    package static let store = Endpoint<API.Nothing, API.Store>(.get, "/store")
    /// Adds streams to the streams file. At most 4 MB in JSON.
    package static let addStreams = Endpoint<API.StreamRequest, API.StreamReport>(.post, "/streams", hasLongBody: true)
    /// The request that a pasted cURL command describes.
    package static let paste = Endpoint<API.PastedText, API.PresentationRequest>(.post, "/paste")
    package static let document = Endpoint<API.Nothing, API.Bytes>(.get, "/openapi.json")

    // MARK: Access

    package static let page = Endpoint<API.Nothing, API.PageLink>(.get, "/page")
    /// Ends the page's link, and returns the new one.
    package static let renewPage = Endpoint<API.Nothing, API.PageLink>(.delete, "/page")
    /// The daemon's address on the network. Throws `.noLAN` if it is not reachable from the network.
    package static let lan = Endpoint<API.Nothing, API.LAN>(.get, "/lan")
    package static let phones = Endpoint<API.Nothing, API.PhoneList>(.get, "/phones")
    /// Admits a phone, and returns its link.
    package static let addPhone = Endpoint<API.PhoneRequest, API.PhoneLink>(.post, "/phones", status: 201)
    /// Ends the access of all phones at once, and returns them.
    package static let revokePhones = Endpoint<API.Nothing, API.PhoneList>(.delete, "/phones")
    /// Ends the access of a phone at once.
    package static let revokePhone = Endpoint<API.Nothing, API.Phone>(.delete, "/phones/{name}")
}

/// The operations on jobs of one kind.
package struct JobEndpoints<Job: API.Job>: Sendable {
    /// Starts a job, or attaches to a running one. Throws known obstacles; `look` reports later errors.
    package let begin = Endpoint<Job.Request, Job>(
        .post, JobEndpoints.path, status: 202, withoutBody: Job.requestWithoutBody)
    /// The state of the asset's last job. Throws `.noSuchAsset`. Cheap while the job runs.
    package let look = Endpoint<API.Nothing, Job>(.get, JobEndpoints.path)
    /// Cancels a running job. Throws `.noSuchAsset`. The job may end a little later, or still succeed.
    package let cancel = Endpoint<API.Nothing, Job>(.delete, JobEndpoints.path)

    private static var path: String { "/assets/{name}/\(Job.kind.rawValue)" }

    package init() {}
}
