import EventLoop
import HLS
import HTTPMessage
import HTTPServer

/// Waits for a text.
@LoopActor protocol TextClient: AnyObject, Sendable {
    /// False if the client has left.
    var isOpen: Bool { get }
}

extension Exchange: TextClient {}

/// The long texts that are being written or sent, each written and kept once for all connections.
@LoopActor final class SharedTexts {
    private struct Known {
        weak var text: SharedText?
    }

    private var known: [Known] = []
    private var writings: [Writing] = []
    /// The number of texts that were written on a worker.
    private(set) var writtenCount = 0

    /// The number of long texts that are being sent.
    var count: Int { known.count { $0.text != nil } }

    /// Returns the text of a draft; nil if there is nothing to play, or if the client or the asset is gone.
    ///
    /// A long text is written on a worker, once for all clients that wait for an equal one, and not at all if these leave before.
    /// - Parameter owner: the asset, for `PureWork`.
    func text(
        of draft: PlaylistDraft, for client: any TextClient, owner: AnyObject
    ) async throws(PlaylistError) -> SharedText? {
        guard draft.size > PureWork.small else {
            return try draft.text().map { SharedText(SessionlessText($0), nil) }
        }
        if let text = known(draft) {
            return text
        }
        // One whose clients have left may be dropped.
        let joined = writings.first { $0.isWanted && $0.draft == draft }
        let writing = joined ?? Writing(draft)
        writing.clients.append(client)
        if joined == nil {
            writings.append(writing)
            begin(writing, owner: owner)
        }
        guard let written = try await writing.task?.value?.get() else { return nil }
        if let text = known(draft) {
            return text
        }
        let text = SharedText(written, draft)
        insert(text, draft)
        return text
    }

    private func begin(_ writing: Writing, owner: AnyObject) {
        let draft = writing.draft
        writing.task = Task { @LoopActor [weak writing] in
            let written = await PureWork.shared.run(size: draft.size, for: owner, wanted: writing) {
                () -> Result<SessionlessText?, PlaylistError> in
                do throws(PlaylistError) {
                    return .success(try draft.text().map { SessionlessText($0) })
                } catch {
                    return .failure(error)
                }
            }
            writings.removeAll { $0 === writing }
            if written != nil {
                writtenCount += 1
            }
            return written
        }
    }

    /// The text of an equal draft that a client is reading.
    private func known(_ draft: PlaylistDraft) -> SharedText? {
        guard let text = known.lazy.compactMap(\.text).first(where: { $0.draft == draft }) else { return nil }
        // The former playlist is not needed any more.
        text.draft = draft
        return text
    }

    private func insert(_ text: SharedText, _ draft: PlaylistDraft) {
        known.removeAll { $0.text == nil }
        // Each draft holds a whole playlist: of the former texts of a URL it is not needed any more.
        for former in known.compactMap(\.text) {
            if let other = former.draft, draft.supersedes(other) {
                former.draft = nil
            }
        }
        known.append(Known(text: text))
    }

    /// A text on its way, and the clients that wait for it.
    @LoopActor private final class Writing: WorkDemand {
        let draft: PlaylistDraft
        var clients: [any TextClient] = []
        var task: Task<Result<SessionlessText?, PlaylistError>?, Never>?
        var isWanted: Bool { clients.contains { $0.isOpen } }

        init(_ draft: PlaylistDraft) { self.draft = draft }
    }
}

/// A written text, for all that read it.
@LoopActor final class SharedText {
    fileprivate let text: SessionlessText
    /// The draft that a long text was written from, to be compared with others.
    fileprivate var draft: PlaylistDraft?

    fileprivate init(_ text: SessionlessText, _ draft: PlaylistDraft?) {
        self.text = text
        self.draft = draft
    }

    /// The entity tag of one session's text.
    func tag(for session: Session) -> EntityTag? {
        let fingerprint = String(text.fingerprint, radix: 36)
        guard !text.gaps.isEmpty else { return EntityTag(fingerprint) }
        return EntityTag("\(fingerprint)-\(session.id)")
    }
}

/// A text with the path of one session.
@LoopActor final class SessionText: RenderedBody {
    private let shared: SharedText
    private let path: [UInt8]
    nonisolated let count: Int
    /// Longer texts are made while they are sent. A shorter one is copied: that is cheaper, and still little for a connection.
    private static let threshold = 64 * 1024

    init(_ shared: SharedText, path: String) {
        self.shared = shared
        self.path = Array(path.utf8)
        count = shared.text.count(withPathOf: self.path.count)
    }

    func bytes(in range: Range<Int>) -> [UInt8] { shared.text.bytes(in: range, with: path) }

    /// The text as the body of a reply.
    var body: RepresentationBody {
        guard count <= Self.threshold else { return .rendered(self) }
        return .bytes(bytes(in: 0..<count))
    }
}
