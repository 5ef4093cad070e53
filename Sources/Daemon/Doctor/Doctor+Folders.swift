internal import Control
internal import Glibc
internal import SafeText
internal import Store
internal import WeirAPI

/// Checks of the folders, their permissions and the token.
extension Doctor {
    func folderFindings() -> [Finding] {
        [("store", configuration.store), ("state", configuration.state)].map { name, path in
            folderFinding(name, path) ?? .ok("\(name) folder", "\(path) exists, and only you can read it")
        } + [backupFinding].compactMap(\.self)
    }

    private func folderFinding(_ name: String, _ path: String) -> Finding? {
        let subject = "\(name) folder"
        let other = "use another folder: weir serve --\(name) DIR"
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT else { return .fault(subject, "\(path): \(Self.reason)", next: other) }
            let parent = nearestFolder(above: path)
            guard access(parent, W_OK | X_OK) == 0 else {
                return .fault(subject, "\(path) cannot be created in \(parent): \(Self.reason)", next: other)
            }
            return .ok(subject, "\(path) will be created when Weir is first started")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { return .fault(subject, "\(path) is not a folder", next: other) }
        guard status.st_uid == geteuid() else {
            return .fault(
                subject, "\(path) belongs to another user (\(status.st_uid))",
                next: "run weir as that user, or \(other)")
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else {
            var sentence = "\(path) cannot be written: \(Self.reason)"
            if name == "store" {
                sentence += "; stored media plays, but nothing can be added"
            }
            return .fault(subject, sentence, next: "chmod 700 \(path)")
        }
        guard status.st_mode & 0o077 == 0 else {
            return .warning(
                subject, "other users can read \(path) (mode \(Self.octal(status.st_mode)))", next: "chmod 700 \(path)")
        }
        return nil
    }

    private func nearestFolder(above path: String) -> String {
        var parts = path.split(separator: "/")
        while !parts.isEmpty {
            parts.removeLast()
            let folder = "/" + parts.joined(separator: "/")
            if exists(folder) {
                return folder
            }
        }
        return "/"
    }

    /// Checks that the backup mark matches the settings. The daemon sets it at its start.
    private var backupFinding: Finding? {
        let assets = configuration.store + "/assets"
        guard exists(assets) else { return nil }
        let isMarked = exists(assets + "/CACHEDIR.TAG")
        let isWanted = configuration.isExcludedFromBackups
        switch (isWanted, isMarked) {
        case (true, true): return .ok("backups", "stored media is excluded")
        case (false, false): return .ok("backups", "stored media is included")
        case (true, false):
            return .warning(
                "backups", "\(assets) should be excluded, but has no CACHEDIR.TAG", next: "restart the daemon")
        case (false, true):
            return .warning(
                "backups", "\(assets) should be included, but has a CACHEDIR.TAG", next: "restart the daemon")
        }
    }

    var tokenFinding: Finding {
        let path = configuration.state + "/token"
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else {
                return .fault("token", "\(path): \(Self.reason)", next: "chmod 700 \(configuration.state)")
            }
            return .ok("token", "\(path) will be created when Weir is first started")
        }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            return .fault(
                "token",
                "other users may have read \(path) (mode \(Self.octal(status.st_mode)), user \(status.st_uid))",
                next: "rm \(path), and restart the daemon, which creates another")
        }
        do {
            _ = try StateDirectory(configuration.state).token()
            return .ok("token", "only you can read \(path)")
        } catch {
            return .fault("token", error.message, next: "rm \(path), and restart the daemon, which creates another")
        }
    }

    func exists(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0
    }

    private static var reason: String { String(cString: strerror(errno)) }

    private static func octal(_ mode: mode_t) -> String { String(mode & 0o7777, radix: 8) }
}

/// Checks of the store's disk and of the clock.
extension Doctor {
    func diskFindings() -> [Finding] {
        var folder = configuration.store
        if !exists(folder) {
            folder = nearestFolder(above: folder)
        }
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return [] }
        let free = Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
        let total = Int64(clamping: UInt64(status.f_blocks) * UInt64(status.f_frsize))
        return [room(free: free, total: total, isOutOfFiles: status.f_files > 0 && status.f_favail == 0)]
            + [fileSystem(folder)].compactMap(\.self)
    }

    private func room(free: Int64, total: Int64, isOutOfFiles: Bool) -> Finding {
        var reserve = BundleStore.usualReserve(of: total)
        if let megabytes = configuration.reserve {
            reserve = Int64(megabytes) << 20
        }
        let words =
            "\(Quantity.bytes(Int(free))) are free, of which \(Quantity.bytes(Int(reserve))) are reserved for other programs"
        if isOutOfFiles {
            return .fault("disk", "it has no room for more files (inodes)", next: "delete assets: weir remove NAME")
        }
        if free <= reserve {
            return .fault(
                "disk", "\(words): nothing can be stored",
                next: "free space: weir remove NAME; or use a smaller reserve: weir serve --reserve MB")
        }
        if free - reserve < 1 << 30 {
            return .warning("disk", "\(words): a film may not fit", next: "free space: weir remove NAME")
        }
        return .ok("disk", words)
    }

    /// Limitations of some file systems, by their numbers in statfs(2).
    private static let kinds: [(numbers: [Int], name: String, trouble: String)] = [
        (
            [0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x517B, 0x00C3_6400, 0x5346_414F, 0x0102_1997], "a network file system",
            "synced data may be lost with the power, and the catalogue's locks may not work"
        ),
        ([0x0102_1994, 0x8584_58F6], "memory", "stored media is lost when the machine is shut down"),
        ([0x4D44, 0x2011_BAB0], "FAT", "it stores no file modes, so other users can read stored media"),
    ]

    private func fileSystem(_ folder: String) -> Finding? {
        guard let number = BundleStore.fileSystemKind(at: folder) else { return nil }
        guard let kind = Self.kinds.first(where: { $0.numbers.contains(number) }) else {
            return .ok("file system", "no problem is known (type \(String(number, radix: 16)))")
        }
        return .warning(
            "file system", "\(folder) is on \(kind.name): \(kind.trouble)",
            next: "use a folder on a disk of this machine: weir serve --store DIR")
    }

    /// Checks the clock, because certificates and expiry dates depend on it. No file of Weir may have a future time.
    func clockFindings() -> [Finding] {
        let now = Int(time(nil))
        let files = ["\(configuration.state)/token", "\(configuration.state)/lock", "\(configuration.store)/lock"]
        for path in files {
            var status = stat()
            if stat(path, &status) == 0, status.st_mtim.tv_sec > now + 86_400 {
                return [
                    .warning(
                        "clock", "it was set back, or is slow: \(path) is from a later day; assets expire too late",
                        next: "timedatectl")
                ]
            }
        }
        // Weir's first commit is from 2026.
        guard now > 1_767_225_600 else {
            return [.fault("clock", "it is slow by years: no https origin can be verified", next: "timedatectl")]
        }
        return [.ok("clock", "it is later than the time of every file of Weir")]
    }
}
