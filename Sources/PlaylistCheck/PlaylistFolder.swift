import Glibc
import HLS
import HTTPMessage

/// Reads the playlists of a folder on disk. Opens paths one component at a time, inside the folder only, and follows no
/// symbolic links. Owns the folder's descriptor.
package final class PlaylistFolder: CheckSource {
    /// The path of a file below the folder.
    package struct Location: Hashable, Sendable {
        /// Folder names, then the file name. No component is `.`, `..` or empty.
        package let components: [String]
        package init(components: [String]) { self.components = components }
    }

    package let entry: Location
    private let path: String
    /// The folder's path as a prefix of its files'.
    private let prefix: String
    /// -1 where the folder cannot be opened.
    private let folder: Int32
    /// True if the entry may be a symbolic link or a pipe.
    private let followsEntry: Bool

    /// - Parameter path: the entry's path as the user typed it.
    package init(path: String, followsEntry: Bool = true) {
        self.followsEntry = followsEntry
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:)) ?? path.startIndex
        self.path = path
        prefix = String(path[..<slash])
        entry = Location(components: [String(path[slash...])])
        let directory = prefix.isEmpty ? "." : prefix
        folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }

    deinit {
        if folder >= 0 {
            close(folder)
        }
    }

    package func read(_ location: Location) async -> CheckReading<Location> {
        let isEntry = location == entry && followsEntry
        let file = isEntry ? open(path, O_RDONLY | O_CLOEXEC) : openBeneath(location.components)
        guard file >= 0 else { return failed(location, errno) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return failed(location, errno) }
        let kind = status.st_mode & S_IFMT
        // The user may name a pipe as the entry. The URIs in it may name files only.
        if isEntry, kind == S_IFDIR {
            return failed(location, EISDIR)
        }
        if !isEntry, kind != S_IFREG {
            return failed(location, EINVAL)
        }
        let limit = PlaylistLimits.standard.bytes
        guard let bytes = Self.bytes(of: file, limit: limit) else { return failed(location, errno) }
        return CheckReading(bytes: bytes, base: location)
    }

    /// Reads a small regular file; nil if it does not exist or is longer than `limit` bytes.
    package func contents(of components: [String], limit: Int) -> [UInt8]? {
        let file = openBeneath(components)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        guard let bytes = Self.bytes(of: file, limit: limit), bytes.count <= limit else { return nil }
        return bytes
    }

    /// Opens a file for reading; returns -1 and sets errno on failure. The caller owns the descriptor.
    package func openFile(_ location: Location) -> Int32 { openBeneath(location.components) }

    /// True if a file or folder exists at `location`.
    package func has(_ location: Location) -> Bool {
        let file = openBeneath(location.components)
        if file >= 0 {
            close(file)
        }
        return file >= 0
    }

    /// Reads at most `limit + 1` bytes.
    private static func bytes(of file: Int32, limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= limit {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR {
                continue
            }
            guard count >= 0 else { return nil }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return bytes
    }

    private func openBeneath(_ components: [String]) -> Int32 {
        var parent = dup(folder)
        for (number, name) in components.enumerated() where parent >= 0 {
            var kind = O_DIRECTORY
            if number + 1 == components.count {
                // Opening a pipe must not block the check.
                kind = O_NONBLOCK
            }
            let child = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind)
            let reason = errno
            close(parent)
            errno = reason
            parent = child
        }
        return parent
    }

    private func failed(_ location: Location, _ reason: Int32) -> CheckReading<Location> {
        let words =
            switch reason {
            case ELOOP: "a symbolic link, which is not followed"
            case EINVAL: "not a file"
            default: String(cString: strerror(reason))
            }
        // Users check single playlists without the files they name, so only the entry is an error.
        var severity = PlaylistDiagnostic.Severity.warning
        if location == entry {
            severity = .error
        }
        let finding = PlaylistDiagnostic(
            severity: severity, code: "notRead", clause: "RFC 8216 §4.1", message: "not read: \(words)")
        let failure = PlaylistCheckError(.unreadableFile, "\(path): \(words)")
        return CheckReading(base: location, findings: [finding], failure: failure)
    }

    package func target(of uri: String, from base: Location) -> CheckTarget<Location> {
        guard url(of: uri, from: base) != nil else { return .invalid }
        if uri.contains("://") || uri.hasPrefix("//") {
            return .elsewhere("the URI leads to another origin")
        }
        if uri.hasPrefix("/") {
            return .elsewhere("the URI leads to the root of an origin")
        }
        let path = uri.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard !path.isEmpty else { return .location(base) }
        var components = Array(base.components.dropLast())
        for part in path.split(separator: UInt8(ascii: "/")) {
            guard let name = Self.decoded(part) else { return .elsewhere("the URI names no file") }
            if name == ".." {
                guard components.popLast() != nil else { return .elsewhere("the URI leads out of the folder") }
            } else if name != "." {
                components.append(name)
            }
        }
        guard !components.isEmpty else { return .elsewhere("the URI names a folder") }
        return .location(Location(components: components))
    }

    /// Percent-decodes a path component; nil if the result is not a file name.
    private static func decoded(_ part: Substring.UTF8View) -> String? {
        guard let name = PercentEncoding.decode(Substring(part)), !name.utf8.contains(0), !name.utf8.contains(0x2F)
        else { return nil }
        return name
    }

    package func url(of uri: String, from base: Location) -> String? {
        guard let own = try? WebURL(url(base)), let target = try? own.resolving(uri), !target.needsHandler else {
            return nil
        }
        return target.text
    }

    /// The URL that an origin at localhost would give the file.
    package func url(_ location: Location) -> String {
        "http://localhost/" + location.components.map(PercentEncoding.encode).joined(separator: "/")
    }
    package func name(_ location: Location) -> String {
        guard location != entry else { return path }
        return prefix + location.components.joined(separator: "/")
    }
    package func query(_ location: Location) -> String? { nil }
    package var hasURLs: Bool { false }
}
