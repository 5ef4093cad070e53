internal import Glibc
internal import Store

/// Checks of the store's disk and of the clock.
extension Doctor {
    func diskFindings() -> [Finding] {
        var folder = configuration.store
        while !isThere(folder), folder != "/" {
            let parts = folder.split(separator: "/").dropLast()
            folder = "/" + parts.joined(separator: "/")
        }
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return [] }
        let free = Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
        let total = Int64(clamping: UInt64(status.f_blocks) * UInt64(status.f_frsize))
        return [room(free: free, total: total, isOutOfFiles: status.f_files > 0 && status.f_favail == 0)]
            + [fileSystem(folder)].compactMap(\.self)
    }

    private func room(free: Int64, total: Int64, isOutOfFiles: Bool) -> Finding {
        let reserve = configuration.reserve.map { Int64($0) << 20 } ?? Store.usualReserve(of: total)
        let words = "\(free >> 20) MB free, of which \(reserve >> 20) are left to others"
        if isOutOfFiles {
            return .fault("disk", "it takes no more files (inodes)", next: "delete what you need no more: weir list")
        }
        if free <= reserve {
            return .fault(
                "disk", "\(words): nothing is kept",
                next: "make room: weir remove NAME, or a smaller reserve: weir serve --reserve MB")
        }
        if free - reserve < 1 << 30 {
            return .warning("disk", "\(words): a film may not fit", next: "make room: weir remove NAME")
        }
        return .ok("disk", words)
    }

    /// Limitations of some file systems, by their numbers in statfs(2).
    private static let kinds: [(numbers: [Int], name: String, trouble: String)] = [
        (
            [0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x517B, 0x00C3_6400, 0x5346_414F, 0x0102_1997], "a network file system",
            "what was synced may be gone after a loss of power, and the catalogue's locks may not hold"
        ),
        ([0x0102_1994, 0x8584_58F6], "memory", "all that is stored is gone when the machine is shut down"),
        ([0x4D44, 0x2011_BAB0], "FAT", "it keeps no modes, so others can read what is stored"),
    ]

    private func fileSystem(_ folder: String) -> Finding? {
        guard let number = Store.fileSystemKind(at: folder) else { return nil }
        guard let kind = Self.kinds.first(where: { $0.numbers.contains(number) }) else {
            return .ok("file system", "nothing is known against it (type \(String(number, radix: 16)))")
        }
        return .warning(
            "file system", "\(folder) is on \(kind.name): \(kind.trouble)",
            next: "weir serve --store DIR, on a disk of this machine")
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
                        "clock", "it was set back, or is slow: \(path) is of a later day; what expires does so late",
                        next: "timedatectl")
                ]
            }
        }
        // Weir's first commit is from 2026.
        guard now > 1_767_225_600 else {
            return [.fault("clock", "it is slow by years: no https origin can be trusted", next: "timedatectl")]
        }
        return [.ok("clock", "it is later than all that was written")]
    }
}
