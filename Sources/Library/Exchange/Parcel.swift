import EventLoop
import Glibc
import PlaylistCheck
import Store

/// A folder that a person wants imported: where it begins, and what it says that it is.
struct Parcel: Sendable {
    /// The folder, with its entry playlist.
    let folder: PlaylistFolder
    /// What a name can be made of.
    let label: String
    /// What another Weir says that it is.
    let identity: BundleIdentity?
    /// The image that came along.
    let artwork: Artwork?
    /// What Apple's XML says, where it is a `.movpkg`.
    let package: MoviePackage?

    /// Looks into what is at `path`.
    ///
    /// - Throws: `badImport` where nothing is there, or nothing that one could begin with.
    init(_ path: String) throws(LibraryError) {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw LibraryError(.badImport, "\(path) is not the absolute path of a folder")
        }
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw LibraryError(.badImport, "\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            label = path
            folder = PlaylistFolder(path: path + "/" + (try Self.entry(of: path)), followsEntry: false)
            package = try MoviePackage(folder, path: path)
        } else {
            package = nil
            label = path
            folder = PlaylistFolder(path: path, followsEntry: false)
        }
        let text = folder.contents(of: [BundleIdentity.fileName], limit: 1 << 20)
        identity = try text.flatMap { text throws(LibraryError) in
            try BundleIdentity(text, at: path + "/" + BundleIdentity.fileName)
        }
        let image = identity?.artwork
        let kind = Artwork.Kind.allCases.first { $0.fileName == image }
        artwork = kind.flatMap { [folder] in folder.contents(of: [$0.fileName], limit: Artwork.limit) }
            .flatMap { Artwork($0) }
    }

    /// What a folder begins with: the playlist that most call so, or the only one at its top; Apple's XML in a package.
    private static func entry(of path: String) throws(LibraryError) -> String {
        guard let listing = opendir(path) else {
            throw LibraryError(.badImport, "\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { closedir(listing) }
        var playlists: [String] = []
        while let next = readdir(listing) {
            let name = withUnsafePointer(to: &next.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name == MoviePackage.boot { return name }
            if name.hasSuffix(".m3u8") || name.hasSuffix(".m3u") { playlists.append(name) }
        }
        if let usual = ["master.m3u8", "index.m3u8", "playlist.m3u8"].first(where: playlists.contains) { return usual }
        guard let only = playlists.first else {
            throw LibraryError(.badImport, "\(path) is no HLS: it has no playlist (.m3u8)")
        }
        guard playlists.count == 1 else {
            throw LibraryError(
                .badImport,
                "\(path) has several playlists (\(playlists.sorted().joined(separator: ", "))): give the path of the one "
                    + "to begin with")
        }
        return only
    }
}
