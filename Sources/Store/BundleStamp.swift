import Glibc

/// What tells whether anything came into a bundle or went from it, its pieces not being looked at: when its folders were last
/// changed. One line a folder: its name, its inode, and the time in nanoseconds.
///
/// A file that was cut in its place, or overwritten, it does not tell of: that is seen when the asset is next used, and by
/// a verification.
public struct BundleStamp: Equatable, Sendable {
    /// The text that is kept; empty for a bundle that is not there.
    public let text: String
    /// When the latest of these changes was, in nanoseconds since 1970.
    let latest: Int64

    /// So long a folder must have been as it is: the system's clock for these times goes in steps, and two changes within
    /// one leave the same time.
    private static let rest: Int64 = 1_000_000_000

    /// Of a bundle as it is now.
    ///
    /// - Parameter assets: the folder in which bundles lie.
    init(of id: String, in assets: Directory) {
        guard let bundle = try? assets.subdirectory(id), let own = bundle.time(of: ".") else {
            (text, latest) = ("", 0)
            return
        }
        let folders = ((try? bundle.entries()) ?? []).filter(\.isDirectory).map(\.name).sorted()
        var (text, latest) = (Self.line("", own), own.modified)
        for name in folders {
            guard let time = bundle.time(of: name) else { continue }
            text += Self.line(name, time)
            latest = max(latest, time.modified)
        }
        (self.text, self.latest) = (text, latest)
    }

    /// Whether what changes from now on will show.
    public var isSettled: Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) - latest > Self.rest
    }

    /// Whether a bundle is as a text of this kind says. The names of its folders need not be read: they are the same if it
    /// has not changed itself.
    static func isCurrent(_ text: String, of id: String, in assets: Directory) -> Bool {
        guard Directory.isName(id) else { return false }
        guard !text.isEmpty else { return assets.time(of: id) == nil }
        return text.utf8.split(separator: UInt8(ascii: "\n")).allSatisfy { line in
            let name = Substring(line.prefix { $0 != UInt8(ascii: " ") })
            let path = name.isEmpty ? id : "\(id)/\(name)"
            return assets.time(of: path).map { Self.line(name, $0).utf8.dropLast().elementsEqual(line) } ?? false
        }
    }

    private static func line(_ name: some StringProtocol, _ time: Directory.ChangeTime) -> String {
        "\(name) \(time.inode) \(time.modified)\n"
    }
}

extension Directory {
    /// When a folder was last changed.
    fileprivate struct ChangeTime {
        let inode: UInt64
        let modified: Int64
    }

    /// Of a folder below; nil where there is none. Nothing is opened.
    fileprivate func time(of path: String) -> ChangeTime? {
        var status = stat()
        guard fstatat(descriptor, path, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            return nil
        }
        let time = status.st_mtim
        return ChangeTime(
            inode: UInt64(status.st_ino), modified: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

extension Store {
    /// The stamp of a bundle as it is now. It waits for the disk: not on the loop.
    public func stamp(of id: String) -> BundleStamp? { assets.map { BundleStamp(of: id, in: $0) } }

    /// The assets whose bundles are not any more as their summaries say. It waits for the disk: not on the loop.
    public func outdated(_ summaries: [SummaryRecord]) -> [String] {
        guard let assets else { return summaries.map(\.asset) }
        return summaries.filter { !BundleStamp.isCurrent($0.stamp, of: $0.asset, in: assets) }.map(\.asset)
    }
}
