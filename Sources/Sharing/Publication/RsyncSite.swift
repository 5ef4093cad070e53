import EventLoop
import Glibc
import Store
import Synchronization

/// Publishes with the program rsync.
///
/// rsync itself compares files: pieces by length and time, texts by their bytes. It gets a folder of hard links to the
/// pieces and a list of files. Deletion uses a list too, so that nothing else is deleted. Empty folders stay: rsync
/// would also delete one that holds files of others.
@LoopActor final class RsyncSite: PublicationSite {
    nonisolated let address: String
    private let store: BundleStore
    private let program: String
    private let cancellation = ChildProgram.Cancellation()

    init(_ address: String, _ store: BundleStore) throws(ExchangeError) {
        guard let program = ChildProgram.find("rsync") else {
            throw ExchangeError(.noProgram, "rsync, which \(address) requires, is not in the daemon's PATH")
        }
        if address.hasSuffix("/") {
            self.address = String(address.dropLast())
        } else {
            self.address = address
        }
        self.store = store
        self.program = program
    }

    /// The options of every call: no password prompt, and one minute until a silent peer is an error.
    private nonisolated var options: [String] {
        guard address.hasPrefix("rsync://") else {
            return ["--timeout=60", "--rsh=ssh -o BatchMode=yes -o ConnectTimeout=10"]
        }
        // Only for daemons: over ssh, rsync refuses this option.
        return ["--timeout=60", "--contimeout=10"]
    }

    func open() async throws(ExchangeError) -> PublicationFinding {
        let found = try await inWorkFolder { [self] work throws(StoreError) in
            try look(in: work)
        }
        // rsync creates the last folder of the path when it sends.
        if found.outcome.code == Self.partial, found.outcome.reports("No such file or directory") {
            return PublicationFinding(isEmpty: true, record: nil)
        }
        guard found.outcome.hasSucceeded else { throw error(found.outcome) }
        return PublicationFinding(isEmpty: found.names.isEmpty, record: found.record)
    }

    func put(
        _ items: [ExportContents.Item], done: @escaping @LoopActor (ExportContents.Item, Bool) -> Void
    ) async throws(ExchangeError) {
        guard !items.isEmpty else { return }
        let failure = try await inWorkFolder { [self] work throws(StoreError) -> ChildProgram.Outcome? in
            let folder = try work.subdirectory("film", create: true)
            defer { Self.removeLinks(from: folder, to: items) }
            try Self.fill(folder, with: items)

            // A piece with the same length and time is the same. Texts are rewritten each time, so that their times differ.
            let pieces = items.filter { !$0.isText }
            let texts = items.filter(\.isText)
            if let failure = try send(pieces, comparedBy: "--times", from: folder, work: work, done: done) {
                return failure
            }
            return try send(texts, comparedBy: "--checksum", from: folder, work: work, done: done)
        }
        if let failure {
            throw error(failure)
        }
    }

    func delete(_ paths: [String]) async throws(ExchangeError) {
        let outcome = try await inWorkFolder { [self] work throws(StoreError) in
            let folder = try work.subdirectory("film", create: true)
            let nested = paths.filter { $0.contains("/") }
            for name in Set(nested.map { path in String(path.prefix { $0 != "/" }) }) {
                _ = try folder.subdirectory(name, create: true)
            }
            let chosen = ["--no-implied-dirs", "--delete-missing-args", "--force"]
            return try run(chosen, listing: paths, from: folder, work: work)
        }
        guard outcome.hasSucceeded else { throw error(outcome) }
    }

    func cancel() { cancellation.cancel() }

    // MARK: Work

    /// The state of the target.
    private struct Found: Sendable {
        /// Of the call that failed, or of the last.
        var outcome: ChildProgram.Outcome
        /// One line of rsync for each name.
        var names: [String]
        /// The bytes of the record of an earlier publication; nil if there is none.
        var record: [UInt8]?
    }

    /// Lists the target, and fetches the record of an earlier publication.
    private nonisolated func look(in work: Directory) throws(StoreError) -> Found {
        let listed = try ChildProgram.run(
            program, options + ["--list-only", "--", address + "/"], in: work, cancellation: cancellation)
        let lines = listed.output.split(separator: "\n").map(String.init)
        let names = lines.filter { !$0.hasSuffix(" .") }
        let hasRecord = names.contains { $0.hasSuffix(" " + PublicationRecord.fileName) }
        guard listed.hasSucceeded, hasRecord else { return Found(outcome: listed, names: names) }

        let source = "\(address)/\(PublicationRecord.fileName)"
        let fetched = try ChildProgram.run(
            program, options + ["--", source, work.path + "/record"], in: work, cancellation: cancellation)
        guard fetched.hasSucceeded else { return Found(outcome: fetched, names: names) }
        return Found(outcome: fetched, names: names, record: try work.read("record") ?? [])
    }

    /// Sends the items that the target does not have, or has otherwise. Returns the outcome of a call that failed.
    private nonisolated func send(
        _ items: [ExportContents.Item], comparedBy comparison: String, from folder: Directory, work: Directory,
        done: @escaping @LoopActor (ExportContents.Item, Bool) -> Void
    ) throws(StoreError) -> ChildProgram.Outcome? {
        guard !items.isEmpty else { return nil }
        let chosen = [
            comparison, "--no-implied-dirs", "--recursive", "--perms", "--chmod=Du=rwx,Dgo=rx,Fu=rw,Fgo=r",
            "--partial-dir=.weir-part", "--out-format=%i %n",
        ]
        let byPath = Dictionary(items.map { ($0.path, $0) }) { $1 }
        let sent = Mutex<Set<String>>([])
        let outcome = try run(chosen, listing: items.map(\.path), from: folder, work: work) { line in
            guard let path = Self.sentPath(line), let item = byPath[path] else { return }
            let isFirst = sent.withLock { $0.insert(path).inserted }
            guard isFirst else { return }
            Task { @LoopActor in done(item, true) }
        }
        guard outcome.hasSucceeded else { return outcome }

        let others = sent.withLock { sent in
            items.filter { !sent.contains($0.path) }
        }
        for item in others {
            Task { @LoopActor in done(item, false) }
        }
        return nil
    }

    /// The path of a file whose bytes were sent, by a line of `--out-format=%i %n` (rsync(1)); nil for another line, and for a file of
    /// which only the time was wrong.
    private nonisolated static func sentPath(_ line: Substring) -> String? {
        guard line.hasPrefix("<f") else { return nil }
        let changes = line.dropFirst(2).prefix(2)
        let isNew = changes.first == "+"
        guard isNew || changes.contains(where: "cs".contains) else { return nil }
        return line.split(separator: " ").last.map(String.init)
    }

    /// Runs rsync from a folder to the target for these paths alone.
    private nonisolated func run(
        _ chosen: [String], listing paths: [String], from folder: Directory, work: Directory,
        onLine: ((Substring) -> Void)? = nil
    ) throws(StoreError) -> ChildProgram.Outcome {
        let list = paths.map { $0 + "\n" }.joined()
        try work.write(Array(list.utf8), as: "list")
        let arguments = options + chosen + ["--files-from=\(work.path)/list", "--", folder.path + "/", address + "/"]
        return try ChildProgram.run(program, arguments, in: work, cancellation: cancellation, onLine: onLine)
    }

    private nonisolated static func fill(_ folder: Directory, with items: [ExportContents.Item]) throws(StoreError) {
        for item in items {
            var home = folder
            if let name = item.folder {
                home = try folder.subdirectory(name, create: true)
            }
            switch item.source {
            case .text(let bytes): try home.write(bytes, as: item.name)
            case .piece: try item.link(into: home)
            }
        }
    }

    private nonisolated static func removeLinks(from folder: Directory, to items: [ExportContents.Item]) {
        for item in items {
            guard let name = item.folder, let home = try? folder.subdirectory(name) else { continue }
            item.removeLink(from: home)
        }
    }

    /// Runs blocking work with a work folder of the store.
    private nonisolated func inWorkFolder<Value: Sendable>(
        _ body: @escaping @Sendable (Directory) throws(StoreError) -> Value
    ) async throws(ExchangeError) -> Value {
        try await onDisk { [store] () throws(StoreError) in
            try store.withWorkFolder(body)
        }
    }

    /// Exit code for "partial transfer due to error": rsync(1), EXIT VALUES.
    private static let partial: Int32 = 23

    private func error(_ outcome: ChildProgram.Outcome) -> ExchangeError {
        let code: ExchangeError.Code =
            switch outcome.code {
            case nil, 20?: .cancelled
            // Socket I/O, protocol stream, timeouts, and errors of ssh.
            case 10?, 30?, 35?, 255?: .unreachable
            case 12? where !outcome.reports("No space left"): .unreachable
            default: .badTarget
            }
        let reason = outcome.errors.first ?? "it gave no reason"
        return ExchangeError(code, "rsync publishes nothing more to \(address): \(reason)")
    }
}

extension ExportContents.Item {
    fileprivate var isText: Bool {
        guard case .text = source else { return false }
        return true
    }
}

extension ChildProgram.Outcome {
    fileprivate func reports(_ words: String) -> Bool { errors.contains { $0.contains(words) } }
}
