import EventLoop
import HTTPMessage
import HTTPServer
import Playlist

/// Waits for a text.
@LoopActor protocol TextClient: AnyObject, Sendable {
    /// False if the client has left.
    var isOpen: Bool { get }
}

extension Exchange: TextClient {}

/// The long playlists that are being written or sent, each written and kept once for all connections.
///
/// The playlists of two sessions differ only in the session's id within their URLs. The shared text has zeros in its place.
@LoopActor final class SharedTexts {
    private struct Known {
        weak var text: SharedText?
    }

    /// By the fingerprint of the text.
    private var known: [UInt64: Known] = [:]
    private var writings: [Writing] = []
    /// The number of playlists that were written on a worker.
    private(set) var writtenCount = 0

    /// The number of texts that are being sent.
    var count: Int { known.values.count { $0.text != nil } }

    /// Returns the text of a draft; nil if there is nothing to play, or if the client or the asset is gone.
    ///
    /// A long text is written on a worker, once for all clients that wait for an equal one, and not at all if these leave before.
    /// - Parameter owner: the asset, for `PureWork`.
    func text(
        of draft: PlaylistDraft, for session: Session, _ client: any TextClient, owner: AnyObject
    ) async throws(PlaylistError) -> SharedText? {
        guard draft.size > PureWork.small else { return try draft.text().map { text($0, for: session) } }
        if let text = text(like: draft) { return text }
        // One whose clients have left may be dropped.
        let joined = writings.first { $0.isWanted && $0.draft.isAlike(draft) }
        let writing = joined ?? Writing(draft)
        writing.clients.append(client)
        if joined == nil {
            writings.append(writing)
            begin(writing, for: session, owner: owner)
        }
        guard let written = try await writing.task?.value?.get() else { return nil }
        return known(written, draft)
    }

    private func begin(_ writing: Writing, for session: Session, owner: AnyObject) {
        let (draft, id) = (writing.draft, session.id)
        writing.task = Task { @LoopActor [weak writing] in
            let written = await PureWork.shared.run(size: draft.size, for: owner, wanted: writing) { draft.written(id) }
            writings.removeAll { $0 === writing }
            if written != nil { writtenCount += 1 }
            return written
        }
    }

    /// A text that is already written, and short enough to be prepared at once.
    func text(_ bytes: [UInt8], for session: Session) -> SharedText {
        let written = WrittenPlaylist(bytes, session: session.id)
        return written.isLong ? known(written, nil) : SharedText(written, nil)
    }

    /// The text of an equal draft that a client is reading.
    private func text(like draft: PlaylistDraft) -> SharedText? {
        for (_, known) in known {
            guard let text = known.text, let other = text.draft, other.isAlike(draft) else { continue }
            // The former playlist is not needed any more.
            text.draft = draft
            return text
        }
        return nil
    }

    private func known(_ written: WrittenPlaylist, _ draft: PlaylistDraft?) -> SharedText {
        if let text = known[written.fingerprint]?.text, text.written == written {
            text.draft = draft ?? text.draft
            return text
        }
        known = known.filter { $0.value.text != nil }
        // Each draft holds a whole playlist: only that of the latest text is kept.
        if let draft {
            for (_, known) in known where known.text?.draft?.replaces(draft) ?? false { known.text?.draft = nil }
        }
        let text = SharedText(written, draft)
        if written.isLong { known[written.fingerprint] = Known(text: text) }
        return text
    }

    /// A text on its way, and the clients that wait for it.
    @LoopActor private final class Writing: WorkDemand {
        let draft: PlaylistDraft
        var clients: [any TextClient] = []
        var task: Task<Result<WrittenPlaylist?, PlaylistError>?, Never>?
        var isWanted: Bool { clients.contains { $0.isOpen } }

        init(_ draft: PlaylistDraft) { self.draft = draft }
    }
}

/// The written text of a playlist, for all sessions that read it.
@LoopActor final class SharedText {
    fileprivate let written: WrittenPlaylist
    /// The draft that it was written from, to be compared with others.
    fileprivate var draft: PlaylistDraft?

    fileprivate init(_ written: WrittenPlaylist, _ draft: PlaylistDraft?) {
        (self.written, self.draft) = (written, draft)
    }

    /// Its length in bytes, which is that of each session's text.
    var count: Int { written.bytes.count }

    /// The entity tag of one session's text.
    func tag(for session: Session) -> EntityTag? {
        let fingerprint = String(written.fingerprint, radix: 36)
        return EntityTag(written.isLong ? "\(fingerprint)-\(session.id)" : fingerprint)
    }

    /// The text as a body for one session. A short one is copied: that is cheaper, and still little for a connection.
    func body(for session: Session) -> RepresentationBody {
        written.isLong ? .rendered(SessionText(self, Array(session.id.utf8))) : .bytes(written.bytes)
    }
}

/// A shared text with the id of one session.
@LoopActor final class SessionText: RenderedBody {
    private let text: SharedText
    private let id: [UInt8]
    nonisolated let count: Int

    fileprivate init(_ text: SharedText, _ id: [UInt8]) { (self.text, self.id, count) = (text, id, text.count) }

    func bytes(in range: Range<Int>) -> [UInt8] {
        let (places, first) = (text.written.places, firstPlace(endingAfter: range.lowerBound))
        return [UInt8](unsafeUninitializedCapacity: range.count) { bytes, count in
            count = text.written.bytes[range].withUnsafeBytes { part in
                UnsafeMutableRawBufferPointer(bytes).copyMemory(from: part)
                return part.count
            }
            places.withUnsafeBufferPointer { places in
                for place in places[first...] {
                    guard place < range.upperBound else { break }
                    let part = (place..<place + id.count).clamped(to: range)
                    id.withUnsafeBytes { id in
                        UnsafeMutableRawBufferPointer(bytes).baseAddress?.advanced(
                            by: part.lowerBound - range.lowerBound
                        )
                        .copyMemory(
                            from: UnsafeRawBufferPointer(rebasing: id[(part.lowerBound - place)...]).baseAddress
                                .unsafelyUnwrapped,
                            byteCount: part.count)
                    }
                }
            }
        }
    }

    /// The index of the first place whose id is not wholly before an offset.
    private func firstPlace(endingAfter offset: Int) -> Int {
        let places = text.written.places
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle] + id.count <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
