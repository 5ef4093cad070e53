import PlaylistCheck

/// The contents of Apple's `.movpkg`: the complete streams and the files of their segments.
///
/// `boot.xml` names one folder for each stream, and the multivariant playlist among the data items. Each folder's
/// `StreamInfoBoot.xml` names its media playlist, as it was fetched, and the file of every segment, in order.
struct MoviePackage: Sendable {
    struct Stream: Sendable {
        let folder: [String]
        /// The original URL of its media playlist.
        let url: String
        let playlist: PlaylistFolder.Place
        /// The files of its initialization sections, in the order of the playlist.
        let sections: [File]
        let segments: [File]
    }

    struct File: Sendable {
        let place: PlaylistFolder.Place
        /// Its length in bytes, if the package has it.
        let length: Int64?
    }

    static let boot = "boot.xml"

    /// The original URL of the multivariant playlist, if the package has it.
    let masterURL: String?
    /// The file of the multivariant playlist; nil if there is none.
    let master: PlaylistFolder.Place?
    let streams: [Stream]

    /// - Throws: `badImport` if the package cannot be read, or no stream in it is complete.
    init?(_ folder: PlaylistFolder, path: String) throws(ExchangeError) {
        guard let text = folder.contents(of: [Self.boot], limit: Self.limit) else { return nil }
        guard let boot = XMLElement(text), boot.name == "HLSMoviePackage" else {
            throw ExchangeError(.badImport, "\(path)/\(Self.boot) is not that of a .movpkg")
        }
        masterURL = boot.child("MasterPlaylist")?.child("NetworkURL")?.text
        let data = boot.child("DataItems")
        let item = data?.all("DataItem").first { $0.child("Role")?.text == "Master" }
        master = item?.child("DataPath").flatMap {
            Self.place($0.text, in: Self.components(data?.attributes["Directory"] ?? "Data") ?? [])
        }
        var streams: [Stream] = []
        for element in boot.child("Streams")?.all("Stream") ?? [] where Self.isComplete(element) {
            if let stream = try Stream(element, folder, path: path) { streams.append(stream) }
        }
        guard !streams.isEmpty else {
            throw ExchangeError(.badImport, "\(path) is not complete: it marks no stream as complete")
        }
        self.streams = streams
    }

    fileprivate static let limit = 32 << 20

    fileprivate static func isComplete(_ element: XMLElement) -> Bool { element.child("Complete")?.text == "YES" }

    /// The components of a path in the package; nil if the path leads out of it.
    fileprivate static func components(_ path: String) -> [String]? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init).filter { $0 != "." }
        let isInside = parts.allSatisfy { !$0.isEmpty && $0 != ".." && !$0.utf8.contains(0) }
        return isInside ? parts : nil
    }

    fileprivate static func place(_ path: String, in folder: [String]) -> PlaylistFolder.Place? {
        components(path).flatMap { $0.isEmpty ? nil : PlaylistFolder.Place(components: folder + $0) }
    }
}

extension MoviePackage.Stream {
    fileprivate init?(_ element: XMLElement, _ folder: PlaylistFolder, path: String) throws(ExchangeError) {
        let name = element.attributes["Path"] ?? element.attributes["ID"] ?? ""
        let file = "\(path)/\(name)/StreamInfoBoot.xml"
        guard let home = MoviePackage.components(name),
            let text = folder.contents(of: home + ["StreamInfoBoot.xml"], limit: MoviePackage.limit),
            let info = XMLElement(text), info.name == "StreamInfo"
        else { throw ExchangeError(.badImport, "\(file) is not there, or is not that of a stream") }
        guard MoviePackage.isComplete(info) else { return nil }
        guard let local = info.child("MediaPlaylist")?.child("PathToLocalCopy")?.text,
            let playlist = MoviePackage.place(local, in: home)
        else { throw ExchangeError(.badImport, "\(file) names no media playlist") }
        func files(_ list: String, _ item: String) throws(ExchangeError) -> [MoviePackage.File] {
            var files: [MoviePackage.File] = []
            for element in info.child(list)?.all(item) ?? [] {
                guard let path = element.attributes["PATH"], let place = MoviePackage.place(path, in: home) else {
                    throw ExchangeError(.badImport, "\(file) names a segment without a file in the package")
                }
                files.append(.init(place: place, length: element.attributes["Len"].flatMap { Int64($0) }))
            }
            return files
        }
        let sections = try files("MediaInitializationSegments", "ISEG")
        let segments = try files("MediaSegments", "SEG")
        self.init(
            folder: home, url: element.attributes["NetworkURL"] ?? "", playlist: playlist, sections: sections,
            segments: segments)
    }
}
