import Glibc
import HTTPMessage
import Playlist

/// The playlists of a folder on disk: that which the user named, and those beside it or below.
///
/// What a playlist names is opened only within the folder, one component after the other, and links are not followed.
/// Owns the folder's descriptor. Sendable: it never changes.
final class FolderCheckSource: CheckSource {
    /// A file below the folder.
    struct Place: Hashable {
        /// Names of folders, and last that of the file; never `.` or `..`, nor empty.
        let components: [String]
    }

    let entry: Place
    private let path: String
    /// The folder's path as a prefix of its files'.
    private let prefix: String
    /// -1 where the folder cannot be opened.
    private let folder: Int32

    /// Whether the playlist that the user named may be a link, or a pipe.
    private let followsEntry: Bool

    /// A source that has read nothing yet; `path` as the user wrote it.
    init(path: String, followsEntry: Bool = true) {
        self.followsEntry = followsEntry
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:)) ?? path.startIndex
        self.path = path
        prefix = String(path[..<slash])
        entry = Place(components: [String(path[slash...])])
        folder = open(prefix.isEmpty ? "." : prefix, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }

    deinit { if folder >= 0 { close(folder) } }

    func read(_ place: Place) async -> CheckReading<Place> {
        let isEntry = place == entry && followsEntry
        let file = isEntry ? open(path, O_RDONLY | O_CLOEXEC) : openBeneath(place.components)
        guard file >= 0 else { return failed(place, errno) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return failed(place, errno) }
        let kind = status.st_mode & S_IFMT
        guard isEntry ? kind != S_IFDIR : kind == S_IFREG else { return failed(place, isEntry ? EISDIR : EINVAL) }
        // One byte more than a playlist may have is read, and no more.
        let limit = PlaylistLimits.standard.bytes
        guard let bytes = Self.bytes(of: file, limit: limit) else { return failed(place, errno) }
        return CheckReading(bytes: bytes, base: place)
    }

    /// All bytes of a small file; nil where it is none, is not there or is longer than `limit`.
    func contents(of components: [String], limit: Int) -> [UInt8]? {
        let file = openBeneath(components)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Self.bytes(of: file, limit: limit).flatMap { $0.count <= limit ? $0 : nil }
    }

    /// Opens a file of the folder for reading; -1 where that fails, and errno says why. The caller owns the descriptor.
    func openFile(_ place: Place) -> Int32 { openBeneath(place.components) }

    /// Whether there is something at a place.
    func has(_ place: Place) -> Bool {
        let file = openBeneath(place.components)
        if file >= 0 { close(file) }
        return file >= 0
    }

    /// At most one byte more than `limit` is read.
    private static func bytes(of file: Int32, limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= limit {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return bytes
    }

    private func openBeneath(_ components: [String]) -> Int32 {
        var parent = dup(folder)
        for (number, name) in components.enumerated() where parent >= 0 {
            // A pipe that somebody left there must not stop the check.
            let kind = number + 1 < components.count ? O_DIRECTORY : O_NONBLOCK
            let child = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind)
            let reason = errno
            close(parent)
            errno = reason
            parent = child
        }
        return parent
    }

    private func failed(_ place: Place, _ reason: Int32) -> CheckReading<Place> {
        let words =
            switch reason {
            case ELOOP: "a symbolic link, which is not followed"
            case EINVAL: "not a file"
            default: String(cString: strerror(reason))
            }
        // A playlist alone, without those that it names, is no fault of its own.
        let finding = PlaylistDiagnostic(
            severity: place == entry ? .error : .warning, code: "notRead", clause: "RFC 8216 §4.1",
            message: "not read: \(words)")
        return CheckReading(base: place, findings: [finding], failure: LibraryError(.missing, "\(path): \(words)"))
    }

    func target(of uri: String, from base: Place) -> CheckTarget<Place> {
        guard url(of: uri, from: base) != nil else { return .nowhere }
        if uri.contains("://") || uri.hasPrefix("//") { return .elsewhere("the URI leads to another origin") }
        if uri.hasPrefix("/") { return .elsewhere("the URI leads to the root of an origin") }
        let path = uri.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard !path.isEmpty else { return .place(base) }
        var components = Array(base.components.dropLast())
        for part in path.split(separator: UInt8(ascii: "/")) {
            guard let name = Self.decoded(part) else { return .elsewhere("the URI names no file") }
            if name == ".." {
                guard components.popLast() != nil else { return .elsewhere("the URI leads out of the folder") }
            } else if name != "." {
                components.append(name)
            }
        }
        return components.isEmpty ? .elsewhere("the URI names a folder") : .place(Place(components: components))
    }

    /// A component without its percent-encodings; nil for what is no name of a file.
    private static func decoded(_ part: Substring.UTF8View) -> String? {
        guard let name = PercentEncoding.decode(Substring(part)), !name.utf8.contains(0), !name.utf8.contains(0x2F)
        else { return nil }
        return name
    }

    func url(of uri: String, from base: Place) -> String? {
        (try? WebURL(url(base))).flatMap { try? $0.resolving(uri).text }
    }

    /// As if the folder were an origin's.
    func url(_ place: Place) -> String {
        "http://localhost/" + place.components.map(PercentEncoding.encode).joined(separator: "/")
    }
    func name(_ place: Place) -> String { place == entry ? path : prefix + place.components.joined(separator: "/") }
    func query(_ place: Place) -> String? { nil }
}
