import Assets
import EventLoop
import Fetching
import Store

/// Joins the segments of subtitle tracks, and keeps the latest texts: players read such a file in parts, and again after a seek.
@LoopActor final class JoinedTexts {
    /// All on which a text depends.
    private struct State: Equatable {
        let edition, changes: Int
        let start: Double?
    }

    private struct Known {
        /// Not another one at the same address.
        weak var rendition: Rendition?
        let state: State
        let text: [UInt8]
        let use: Int
    }

    private var known: [ObjectIdentifier: Known] = [:]
    private var uses = 0
    /// The renditions that somebody joins now, and those that wait for that.
    private var joining: Set<ObjectIdentifier> = []
    private var waiting: [ObjectIdentifier: [CheckedContinuation<Void, Never>]] = [:]
    /// The number of joins so far.
    private(set) var joinCount = 0

    /// The most bytes of texts that are kept.
    private static let keptLimit = 16 << 20
    /// The most bytes of a track's pieces: the text is in memory as a whole.
    static let limit: Int64 = 64 << 20

    /// True if the text was joined, and no segment has come or gone since.
    func isKnown(of rendition: Rendition, start: Double?) -> Bool {
        let found = known[ObjectIdentifier(rendition)]
        return found?.rendition === rendition && found?.state == state(of: rendition, start: start)
    }

    private func state(of rendition: Rendition, start: Double?) -> State {
        State(edition: rendition.edition, changes: rendition.folder.changes, start: start)
    }

    /// The text of a rendition whose segments are stored; nil if nothing of it is there, or its task is cancelled. Segments that are
    /// damaged are left out.
    /// - Parameter start: the start of the media on its own timeline, in seconds; nil for that of the first text.
    func text(of rendition: Rendition, start: Double?) async -> [UInt8]? {
        let id = ObjectIdentifier(rendition)
        // Those who ask at the same time wait for the first one. If it is cancelled, the next one begins anew.
        while joining.contains(id) {
            await withCheckedContinuation { waiting[id, default: []].append($0) }
        }
        if let text = use(id, of: rendition, in: state(of: rendition, start: start)) {
            return text
        }
        guard !Task.isCancelled else { return nil }

        joining.insert(id)
        joinCount += 1
        let files = rendition.mediaFiles
        let sound = await rendition.folder.verifiedIdentities(of: files)
        let state = state(of: rendition, start: start)
        var joined: [UInt8]??
        if let folder = try? rendition.folder.pieces().directory {
            let work = SubtitleJoining(files.filter { sound[$0] != nil }, from: folder, start: start)
            joined = await FileLane.shared.run(inSlices: work) { $0.step() }
        }
        joining.remove(id)
        for continuation in waiting.removeValue(forKey: id) ?? [] {
            continuation.resume()
        }
        guard let text = joined ?? nil else { return nil }
        uses += 1
        keep(Known(rendition: rendition, state: state, text: text, use: uses), of: id)
        return text
    }

    private func use(_ id: ObjectIdentifier, of rendition: Rendition, in state: State) -> [UInt8]? {
        guard let found = known[id] else { return nil }
        guard found.rendition === rendition, found.state == state else {
            known[id] = nil
            return nil
        }
        uses += 1
        known[id] = Known(rendition: rendition, state: state, text: found.text, use: uses)
        return found.text
    }

    private func keep(_ text: Known, of id: ObjectIdentifier) {
        known[id] = text
        while known.values.reduce(0, { $0 + $1.text.count }) > Self.keptLimit {
            guard let oldest = known.min(by: { $0.value.use < $1.value.use }) else { return }
            known[oldest.key] = nil
        }
    }
}

/// Joins the files of a subtitle track, step by step.
private struct SubtitleJoining: Sendable {
    /// The lines of a step.
    private static let step = 512
    private let files: [String]
    private let folder: Directory
    private let start: Double?
    private var next = 0
    private var joined: JoinedSubtitles?

    init(_ files: [String], from folder: Directory, start: Double?) {
        self.files = files
        self.folder = folder
        self.start = start
    }

    /// Takes a step. Returns the whole text behind the last one, or nil in place of it if no file is there.
    mutating func step() -> [UInt8]?? {
        if joined?.addNext(Self.step) ?? false {
            return nil
        }
        guard next < files.count else { return .some(end()) }
        defer { next += 1 }
        guard let bytes = (try? folder.read(files[next])) ?? nil else { return nil }
        var joined = joined ?? begun(with: bytes)
        // The only reference, so that adding to it copies nothing.
        self.joined = nil
        joined.begin(bytes)
        self.joined = joined
        return nil
    }

    /// The whole text; nil if no file is there. Forgets the cues.
    private mutating func end() -> [UInt8]? {
        let text = joined?.text
        joined = nil
        return text
    }

    /// The text before its first segment, whose time counts if no start is given.
    private func begun(with segment: [UInt8]) -> JoinedSubtitles {
        JoinedSubtitles(start: start ?? JoinedSubtitles.offset(of: segment))
    }
}
