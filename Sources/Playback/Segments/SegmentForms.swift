import EventLoop
internal import Glibc
internal import Store

/// The bytes that a segment's URL stands for: a piece, and whether it is spliced.
struct SegmentForm: Hashable {
    /// The rendition of a substitute; nil for the rendition that the URL names.
    var substitute: String?
    var isSpliced = false

    /// The piece that the URL names, unchanged.
    static let own = SegmentForm()
}

/// The forms in which the segments of one session were sent, by rendition and segment number. A URL keeps its form across
/// requests, connections and restarts, because players resume bodies and join ranges without comparing entity tags.
///
/// A form is appended to a file before the first byte is sent. The system keeps what was written when the process ends, so
/// nothing is synced. If the file cannot be written, the forms are kept in memory only.
@LoopActor final class SegmentForms {
    private var forms: [String: [Int: SegmentForm]] = [:]
    private let file: (folder: SessionFiles, name: String)?
    /// True if the session has forms from before this process.
    let isContinued: Bool

    /// - Parameter folder: the folder of the session files; nil to keep the forms in memory only.
    init(of session: String, asset: String, in folder: SessionFiles?) {
        let name = "\(session)-\(asset)"
        file = folder.map { ($0, name) }
        let text = folder?.read(name) ?? []
        isContinued = !text.isEmpty
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let entry = Entry(line) else { continue }
            forms[entry.rendition, default: [:]][entry.number] = entry.form
        }
    }

    /// The recorded form of a segment; nil if none was sent.
    func form(of number: Int, in rendition: String) -> SegmentForm? { forms[rendition]?[number] }

    /// True if a segment of the rendition was sent spliced or from another rendition.
    func hasSubstitutes(in rendition: String) -> Bool {
        forms[rendition]?.values.contains { $0 != .own } ?? false
    }

    /// Records the form of a segment before its first byte is sent.
    func record(_ form: SegmentForm, of number: Int, in rendition: String) {
        guard forms[rendition, default: [:]].updateValue(form, forKey: number) != form else { return }
        file.map { $0.folder.append(Entry(rendition: rendition, number: number, form: form).line, to: $0.name) }
    }

    /// A line of the file: rendition, number, `o` or `s` for spliced, and the substitute's rendition if it is one.
    private struct Entry {
        let rendition: String
        let number: Int
        let form: SegmentForm

        init(rendition: String, number: Int, form: SegmentForm) {
            self.rendition = rendition
            self.number = number
            self.form = form
        }

        init?(_ line: ArraySlice<UInt8>) {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
            guard words.count == 3 || words.count == 4, let number = Int(words[1]), ["o", "s"].contains(words[2]) else {
                return nil
            }
            rendition = words[0]
            self.number = number
            var substitute: String?
            if words.count == 4 {
                substitute = words[3]
            }
            form = SegmentForm(substitute: substitute, isSpliced: words[2] == "s")
        }

        var line: [UInt8] {
            let state = form.isSpliced ? "s" : "o"
            let words = [rendition, String(number), state, form.substitute].compactMap(\.self)
            return Array((words.joined(separator: " ") + "\n").utf8)
        }
    }
}

/// The folder of the session files. Files that were not written for some days are deleted: their players are gone.
@LoopActor final class SessionFiles {
    private let path: String
    private var opened: Directory?
    /// The files that were written last, the latest at the end. A session begins with each playlist that a player opens, and
    /// there are fewer descriptors than sessions.
    private var files: [OpenFile] = []
    private static let mostOpen = 16
    /// The time of the latest deletion of old files.
    private var cleaned = 0.0
    private let now: () -> Double
    /// In seconds.
    private static let life = 7 * 86_400.0
    private static let pause = 86_400.0
    /// In bytes; a segment takes about 20.
    private static let limit: Int64 = 64 << 20

    /// - Parameter now: the time of day, in seconds since 1970 in UTC.
    init(path: String, now: @escaping @Sendable () -> Double) {
        self.path = path
        self.now = now
    }

    /// The file's text; nil if there is no such file.
    func read(_ name: String) -> [UInt8]? {
        guard let folder = directory(), (folder.size(of: name) ?? 0) <= Self.limit else { return nil }
        return try? folder.read(name)
    }

    /// Deletes the files of all sessions of an asset.
    func remove(ofAsset id: String) {
        guard let folder = directory() else { return }
        let names = ((try? folder.entries()) ?? []).map(\.name).filter { $0.drop { $0 != "-" } == "-" + id }
        files.removeAll { names.contains($0.name) }
        for name in names {
            try? folder.remove(name)
        }
    }

    private final class OpenFile {
        let name: String
        let descriptor: Int32

        init(_ name: String, _ descriptor: Int32) {
            self.name = name
            self.descriptor = descriptor
        }

        deinit { close(descriptor) }
    }

    /// Appends a line to a file, and creates it if it is missing. An error is ignored: without its file, a session begins a new
    /// record after a restart, and what is sent now is the same.
    func append(_ line: [UInt8], to name: String) {
        let file: OpenFile
        if let index = files.lastIndex(where: { $0.name == name }) {
            file = files.remove(at: index)
        } else {
            let opened = try? directory()?.open(name, flags: O_WRONLY | O_CREAT | O_APPEND)
            guard let opened else { return }
            file = OpenFile(name, opened)
            if files.count >= Self.mostOpen {
                files.removeFirst()
            }
        }
        files.append(file)
        _ = write(file.descriptor, line, line.count)
    }

    /// The folder, cleared of old files once a day; nil if it cannot be made.
    private func directory() -> Directory? {
        guard let folder = opened ?? (try? Directory.open(path: path)) else { return nil }
        opened = folder
        let time = now()
        if time - cleaned > Self.pause {
            cleaned = time
            for entry in (try? folder.entries()) ?? [] where Double(entry.lastUse) < time - Self.life {
                try? folder.remove(entry.name)
            }
        }
        return folder
    }
}
