public import EventLoop
import Glibc

/// The files with the cookies of assets: one per asset, named by its id, readable by the user only.
///
/// They lie outside the store, so that no bundle, export or publication contains them.
@LoopActor public final class CookieFolder: CookieStorage {
    private let path: String
    private let report: @Sendable (String) -> Void
    private var isBroken = false

    /// Creates the object for a folder, which is created when there is something to keep.
    public init(_ path: String, report: @escaping @Sendable (String) -> Void) {
        self.path = path
        self.report = report
    }

    /// Deletes the files of assets that are gone.
    /// - Parameter known: the ids of all assets.
    public func deleteFiles(except known: Set<String>) {
        guard let folder = opendir(path) else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasPrefix(".") || known.contains(name) {
                continue
            }
            unlink("\(path)/\(name)")
        }
    }

    /// Connects the jar of an asset with its file.
    public func adopt(_ id: String, _ jar: CookieJar) {
        jar.file = id
        jar.storage = self
    }

    func lines(in file: String) -> [String] { Self.read("\(path)/\(file)") }

    /// Renames the file of an asset whose revision, which shares its jar, has another id.
    public func rename(_ jar: CookieJar, to id: String) {
        if jar.storage != nil {
            Glibc.rename("\(path)/\(jar.file)", "\(path)/\(id)")
        }
        jar.file = id
    }

    /// Deletes the file of a removed asset.
    public func remove(_ jar: CookieJar) {
        guard jar.storage != nil else { return }
        jar.storage = nil
        unlink("\(path)/\(jar.file)")
    }

    func keep(_ lines: [String], in file: String) {
        mkdir(path, 0o700)
        let target = "\(path)/\(file)"
        let draft = "\(path)/\(file).new"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return fail() }
        let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
        let written = Glibc.write(descriptor, bytes, bytes.count)
        close(descriptor)
        guard written == bytes.count, Glibc.rename(draft, target) == 0 else { return fail() }
        isBroken = false
    }

    private func fail() {
        if !isBroken {
            report("cookies cannot be kept in \(path): \(String(cString: strerror(errno)))")
        }
        isBroken = true
    }

    private static func read(_ path: String) -> [String] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        let size = min(maximumSize, max(0, Int(lseek(descriptor, 0, SEEK_END))))
        lseek(descriptor, 0, SEEK_SET)
        var bytes = [UInt8](repeating: 0, count: size)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return [] }
        return bytes.prefix(count).split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Enough for the most cookies of the greatest length.
    private static let maximumSize = 6 << 20
}
