internal import API
internal import Control
internal import Glibc

/// Checks of the folders, their permissions and the token.
extension Doctor {
    func folderFindings() -> [Finding] {
        [("store", configuration.store), ("state", configuration.state)].map { name, path in
            folderFinding(name, path) ?? .ok("\(name) folder", "\(path) is there, and yours alone")
        } + [backupFinding].compactMap(\.self)
    }

    private func folderFinding(_ name: String, _ path: String) -> Finding? {
        let subject = "\(name) folder"
        let other = "weir serve --\(name) DIR takes another"
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT else {
                return .fault(subject, "\(path): \(Self.reason)", next: other)
            }
            let parent = nearestFolder(above: path)
            guard access(parent, W_OK | X_OK) == 0 else {
                return .fault(subject, "\(path) cannot be made in \(parent): \(Self.reason)", next: other)
            }
            return .ok(subject, "\(path) will be made when Weir is first started")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            return .fault(subject, "\(path) is not a folder", next: other)
        }
        guard status.st_uid == geteuid() else {
            return .fault(
                subject, "\(path) belongs to another user (\(status.st_uid))",
                next: "run weir as that user, or: \(other)")
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else {
            let effect = name == "store" ? "; what is in it plays, and nothing is kept" : ""
            return .fault(subject, "\(path) cannot be written: \(Self.reason)\(effect)", next: "chmod 700 \(path)")
        }
        guard status.st_mode & 0o077 == 0 else {
            return .warning(
                subject, "\(path) is open to others (mode \(Self.octal(status.st_mode)))", next: "chmod 700 \(path)")
        }
        return nil
    }

    private func nearestFolder(above path: String) -> String {
        var parts = path.split(separator: "/")
        while !parts.isEmpty {
            parts.removeLast()
            let folder = "/" + parts.joined(separator: "/")
            if isThere(folder) { return folder }
        }
        return "/"
    }

    /// Checks that the backup mark matches the settings. The daemon sets it at its start.
    private var backupFinding: Finding? {
        let assets = configuration.store + "/assets"
        guard isThere(assets) else { return nil }
        let (isMarked, isWanted) = (isThere(assets + "/CACHEDIR.TAG"), configuration.isExcludedFromBackups)
        guard isMarked == isWanted else {
            return .warning(
                "backups",
                isWanted
                    ? "\(assets) should be left out of them, but has no CACHEDIR.TAG"
                    : "\(assets) should be in them, but has a CACHEDIR.TAG",
                next: "start the daemon anew")
        }
        return .ok("backups", isWanted ? "they pass over what is stored" : "they have what is stored")
    }

    var tokenFinding: Finding {
        let path = configuration.state + "/token"
        var status = stat()
        guard lstat(path, &status) == 0 else {
            return errno == ENOENT
                ? .ok("token", "\(path) will be made when Weir is first started")
                : .fault("token", "\(path): \(Self.reason)", next: "chmod 700 \(configuration.state)")
        }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            return .fault(
                "token", "others may have read \(path) (mode \(Self.octal(status.st_mode)), user \(status.st_uid))",
                next: "rm \(path), and start the daemon anew: it makes another")
        }
        do {
            _ = try StateDirectory(configuration.state).token()
            return .ok("token", "\(path) is yours alone")
        } catch {
            return .fault("token", error.message, next: "rm \(path), and start the daemon anew: it makes another")
        }
    }

    func isThere(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0
    }

    private static var reason: String { String(cString: strerror(errno)) }

    private static func octal(_ mode: mode_t) -> String { String(mode & 0o7777, radix: 8) }
}
