import CLinux
import Glibc

/// The modification times of a bundle's folders. Two equal stamps mean that no file was added or removed in between; no piece
/// has to be read for that. One line per folder: its name, its inode, and the time in nanoseconds.
///
/// A file that was cut or overwritten does not change the stamp: the next use of the asset, or a verification, finds it.
public struct BundleStamp: Equatable, Sendable {
    /// The text that is stored; empty for a missing bundle.
    public let text: String
    /// The latest of these times, in seconds since 1970.
    private let latest: Double
    /// Minimum age of the last change, in seconds: file times advance in steps, and two changes in one step get one time.
    private static let rest = 1.0

    init(of id: String, in assets: Directory) {
        guard let bundle = try? assets.subdirectory(id), let own = bundle.time(of: ".") else {
            text = ""
            latest = 0
            return
        }
        let folders = ((try? bundle.entries()) ?? []).filter(\.isDirectory).map(\.name).sorted()
        var text = Self.line("", own)
        var latest = own.seconds
        for name in folders {
            guard let time = bundle.time(of: name) else { continue }
            text += Self.line(name, time)
            latest = max(latest, time.seconds)
        }
        self.text = text
        self.latest = latest
    }

    /// True if any later change will change the stamp.
    public var isStable: Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        // A file system may keep times beyond the year 2262, which nanoseconds in 64 bits do not reach.
        let age = Double(now.tv_sec) + Double(now.tv_nsec) * 1e-9 - latest
        return age > Self.rest
    }

    /// True if a bundle still has this stamp. An unchanged bundle folder means that its folders' names are the same.
    static func isCurrent(_ text: String, of id: String, in assets: Directory) -> Bool {
        guard Directory.isName(id) else { return false }
        guard !text.isEmpty else { return assets.time(of: id) == nil }
        return text.utf8.split(separator: UInt8(ascii: "\n")).allSatisfy { line in
            let name = Substring(line.prefix { $0 != UInt8(ascii: " ") })
            let path = name.isEmpty ? id : "\(id)/\(name)"
            guard let time = assets.time(of: path) else { return false }
            return Self.line(name, time).utf8.dropLast().elementsEqual(line)
        }
    }

    private static func line(_ name: some StringProtocol, _ time: Directory.ChangeTime) -> String {
        "\(name) \(time.inode) \(time.modified)\n"
    }
}

extension Directory {
    fileprivate struct ChangeTime {
        let inode: UInt64
        /// Nanoseconds since 1970, modulo 2^64: two times are equal, or they differ.
        let modified: Int64
        /// Seconds since 1970.
        let seconds: Double
    }

    /// The change time of a folder below; nil if there is none. Opens nothing.
    fileprivate func time(of path: String) -> ChangeTime? {
        guard let status = status(of: path), status.isFolder else { return nil }
        let time = status.st_mtim
        return ChangeTime(
            inode: UInt64(status.st_ino), modified: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec),
            seconds: Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9)
    }
}

extension BundleStore {
    /// Computes a bundle's stamp. Waits for the disk: do not call it on the loop.
    public func stamp(of id: String) -> BundleStamp? { assets.map { BundleStamp(of: id, in: $0) } }

    /// Returns the assets whose bundles have changed since their summary. Waits for the disk: do not call it on the loop.
    public func outdated(_ summaries: [SummaryRecord]) -> [String] {
        guard let assets else { return summaries.map(\.asset) }
        return summaries.filter { !BundleStamp.isCurrent($0.stamp, of: $0.asset, in: assets) }.map(\.asset)
    }
}
