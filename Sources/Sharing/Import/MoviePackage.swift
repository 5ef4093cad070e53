import PlaylistCheck
import SafeText

/// The contents of Apple's `.movpkg`: the complete streams and the files of their segments.
///
/// `boot.xml` names one folder for each stream, and the multivariant playlist among the data items. Each folder's
/// `StreamInfoBoot.xml` names its media playlist, as it was fetched, and the file of every segment, in order.
struct MoviePackage: Sendable {
    struct Stream: Sendable {
        /// The original URL of its media playlist.
        let url: String
        let files: StreamFiles
    }

    /// The files of a stream.
    struct StreamFiles: Sendable {
        let playlist: PlaylistFolder.Location
        /// The files of its initialization sections, in the order of the playlist.
        let sections: [File]
        let segments: [File]
    }

    struct File: Sendable {
        let location: PlaylistFolder.Location
        /// Its length in bytes, if the package has it.
        let length: Int64?
    }

    static let boot = "boot.xml"

    /// The original URL of the multivariant playlist, if the package has it.
    let masterURL: String?
    /// The file of the multivariant playlist; nil if there is none.
    let master: PlaylistFolder.Location?
    let streams: [Stream]

    /// Reads each file of the package once, however many streams name it.
    ///
    /// - Throws: `badImport` if the package cannot be read, or no stream in it is complete, or once `mayGoOn` returns false.
    init?(_ folder: PlaylistFolder, path: String, while mayGoOn: () -> Bool) throws(ExchangeError) {
        guard let text = folder.contents(of: [Self.boot], limit: Self.limit) else { return nil }
        guard let boot = XMLElement(text), boot.name == "HLSMoviePackage" else {
            throw ExchangeError(.badImport, "\(path)/\(Self.boot) is not the description of a .movpkg")
        }
        masterURL = boot.child("MasterPlaylist")?.child("NetworkURL")?.text
        let data = boot.child("DataItems")
        let item = data?.all("DataItem").first { $0.child("Role")?.text == "Master" }
        if let path = item?.child("DataPath") {
            let home = Self.components(data?.attributes["Directory"] ?? "Data")
            master = Self.location(path.text, in: home ?? [])
        } else {
            master = nil
        }
        var reader = StreamReader(folder: folder, path: path)
        var streams: [Stream] = []
        for element in boot.child("Streams")?.all("Stream") ?? [] where Self.isComplete(element) {
            guard mayGoOn() else {
                throw ExchangeError(.badImport, "\(path) was not read to the end: the request was cancelled")
            }
            guard let files = try reader.files(of: element) else { continue }
            streams.append(Stream(url: element.attributes["NetworkURL"] ?? "", files: files))
        }
        guard !streams.isEmpty else {
            throw ExchangeError(.badImport, "\(path) is not complete: it marks no stream as complete")
        }
        self.streams = streams
    }

    fileprivate static let limit = 32 << 20
    /// The most bytes of the descriptions of all streams.
    fileprivate static let streamsLimit = 64 << 20

    fileprivate static func isComplete(_ element: XMLElement) -> Bool { element.child("Complete")?.text == "YES" }

    /// The components of a path in the package; nil if the path leads out of it.
    fileprivate static func components(_ path: String) -> [String]? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init).filter { $0 != "." }
        let isInside = parts.allSatisfy { !$0.isEmpty && $0 != ".." && !$0.utf8.contains(0) }
        guard isInside else { return nil }
        return parts
    }

    fileprivate static func location(_ path: String, in folder: [String]) -> PlaylistFolder.Location? {
        guard let components = components(path), !components.isEmpty else { return nil }
        return PlaylistFolder.Location(components: folder + components)
    }
}

/// Reads the descriptions of streams, each folder's once.
private struct StreamReader {
    let folder: PlaylistFolder
    let path: String
    /// By folder; nil for a stream that is not complete.
    private var known: [String: MoviePackage.StreamFiles?] = [:]
    private var size = 0

    init(folder: PlaylistFolder, path: String) {
        self.folder = folder
        self.path = path
    }

    /// - Returns: nil for a stream that is not complete.
    mutating func files(of element: XMLElement) throws(ExchangeError) -> MoviePackage.StreamFiles? {
        let named = element.attributes["Path"] ?? element.attributes["ID"]
        let name = named ?? ""
        guard let home = MoviePackage.components(name) else { throw missing(name) }
        let key = home.joined(separator: "/")
        if let files = known[key] {
            return files
        }
        let files = try read(home, name)
        known[key] = .some(files)
        return files
    }

    private func file(_ name: String) -> String { "\(path)/\(name)/StreamInfoBoot.xml" }

    private func missing(_ name: String) -> ExchangeError {
        ExchangeError(.badImport, "\(file(name)) is missing, or is not the description of a stream")
    }

    private mutating func read(_ home: [String], _ name: String) throws(ExchangeError) -> MoviePackage.StreamFiles? {
        let file = file(name)
        guard let text = folder.contents(of: home + ["StreamInfoBoot.xml"], limit: MoviePackage.limit) else {
            throw missing(name)
        }
        size += text.count
        guard size <= MoviePackage.streamsLimit else {
            throw ExchangeError(
                .badImport,
                "the descriptions of the streams in \(path) have more than "
                    + Quantity.bytes(Int(MoviePackage.streamsLimit)))
        }
        guard let info = XMLElement(text), info.name == "StreamInfo" else { throw missing(name) }
        guard MoviePackage.isComplete(info) else { return nil }
        guard let local = info.child("MediaPlaylist")?.child("PathToLocalCopy")?.text,
            let playlist = MoviePackage.location(local, in: home)
        else { throw ExchangeError(.badImport, "\(file) names no media playlist") }
        func files(_ list: String, _ item: String) throws(ExchangeError) -> [MoviePackage.File] {
            var files: [MoviePackage.File] = []
            for element in info.child(list)?.all(item) ?? [] {
                guard let path = element.attributes["PATH"], let location = MoviePackage.location(path, in: home) else {
                    throw ExchangeError(.badImport, "\(file) names a segment without a file in the package")
                }
                files.append(.init(location: location, length: element.attributes["Len"].flatMap { Int64($0) }))
            }
            return files
        }
        return MoviePackage.StreamFiles(
            playlist: playlist, sections: try files("MediaInitializationSegments", "ISEG"),
            segments: try files("MediaSegments", "SEG"))
    }
}

/// Finds the stream that a URI of the multivariant playlist names, without comparing it with all.
struct StreamNames {
    /// The index of the first stream with this URL.
    private var byURL: [String: Int] = [:]
    /// The index of the first stream whose URL ends with this, behind a slash.
    private var byEnd: [Substring: Int] = [:]
    /// The most components of a relative URI.
    private static let deepest = 32

    init(_ streams: [MoviePackage.Stream]) {
        for (index, stream) in streams.enumerated() {
            let url = stream.url
            if byURL[url] != nil {
                continue
            }
            byURL[url] = index
            for slash in url.indices.reversed().lazy.filter({ url[$0] == "/" }).prefix(Self.deepest) {
                let end = url[url.index(after: slash)...]
                byEnd[end] = byEnd[end] ?? index
            }
        }
    }

    /// - Parameter resolved: the absolute URL of the URI; nil if it has none.
    func index(of uri: String, resolved: String?) -> Int? {
        [byURL[uri], byEnd[uri[...]], resolved.flatMap { byURL[$0] }].compactMap(\.self).min()
    }
}
