import Assets
import CLinux
import EventLoop
import Glibc
import HTTPMessage
import PlaylistCheck
import Store

/// A folder to import: its entry playlist and its description.
struct ImportSource: Sendable {
    let folder: PlaylistFolder
    /// The path of which an asset's name can be made.
    let label: String
    /// The contents of `asset.json`; nil unless another Weir wrote the folder.
    let identity: BundleIdentity?
    /// The image that `identity` names.
    let artwork: Artwork?
    /// The description of a `.movpkg`; nil for other folders.
    let package: MoviePackage?

    /// Reads the description of a folder on the lane for such files.
    static func read(_ path: String) async throws(ExchangeError) -> ImportSource {
        let result = await FileLane.shared.run { turn in
            Result { () throws(ExchangeError) in try ImportSource(path) { turn.mayGoOn } }
        }
        guard let result else { throw ExchangeError(.badImport, "\(path) is not imported: the request was cancelled") }
        return try result.get()
    }

    private init(_ path: String, while mayGoOn: () -> Bool) throws(ExchangeError) {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw ExchangeError(.badImport, "\(path) is not the absolute path of a folder")
        }
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw ExchangeError(.badImport, "\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            label = path
            folder = PlaylistFolder(path: path + "/" + (try Self.entry(of: path)), followsEntry: false)
            package = try MoviePackage(folder, path: path, while: mayGoOn)
        } else {
            package = nil
            label = path
            folder = PlaylistFolder(path: path, followsEntry: false)
        }
        let text = folder.contents(of: [BundleIdentity.fileName], limit: 1 << 20)
        identity = try text.flatMap { text throws(ExchangeError) in
            do throws(StoreError) {
                return try BundleIdentity(text, at: path + "/" + BundleIdentity.fileName)
            } catch {
                throw ExchangeError(.badImport, "\(error)", underlying: error)
            }
        }
        let image = identity?.artwork
        let kind = Artwork.Kind.allCases.first { $0.fileName == image }
        artwork = kind.flatMap { [folder] in folder.contents(of: [$0.fileName], limit: Artwork.limit) }
            .flatMap { Artwork($0) }
    }

    /// A playlist with a usual name, or the only playlist; `boot.xml` in a package.
    private static func entry(of path: String) throws(ExchangeError) -> String {
        guard let listing = opendir(path) else {
            throw ExchangeError(.badImport, "\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { closedir(listing) }
        var playlists: [String] = []
        while let next = readdir(listing) {
            let name = withUnsafePointer(to: &next.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name == MoviePackage.boot {
                return name
            }
            if name.hasSuffix(".m3u8") || name.hasSuffix(".m3u") {
                playlists.append(name)
            }
        }
        if let usual = ["master.m3u8", "index.m3u8", "playlist.m3u8"].first(where: playlists.contains) {
            return usual
        }
        guard let only = playlists.first else {
            throw ExchangeError(.badImport, "\(path) is no HLS: it has no playlist (.m3u8)")
        }
        guard playlists.count == 1 else {
            throw ExchangeError(
                .badImport,
                "\(path) has several playlists (\(playlists.sorted().joined(separator: ", "))): give the path of the one "
                    + "to begin with")
        }
        return only
    }
}
