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
        let finding = try await inWorkFolder {
            [self] work throws(StoreError) -> (ChildProgram.Outcome, [UInt8]?, [String]) in
            let names = Mutex<[String]>([])
            let listed = try ChildProgram.run(
                program, options + ["--list-only", "--", address + "/"], in: work, cancellation: cancellation
            ) { line in names.withLock { $0.append(String(line)) } }
            let lines = names.withLock { $0 }.filter { !$0.hasSuffix(" .") }
            guard listed.hasSucceeded, lines.contains(where: { $0.hasSuffix(" " + PublicationRecord.fileName) }) else {
                return (listed, nil, lines)
            }
            let got = try ChildProgram.run(
                program, options + ["--", "\(address)/\(PublicationRecord.fileName)", work.path + "/record"], in: work,
                cancellation: cancellation)
            guard got.hasSucceeded else { return (got, nil, lines) }
            let record = try work.read("record") ?? []
            return (got, record, lines)
        }
        let (outcome, record, names) = finding
        // rsync creates the last folder of the path when it sends.
        if outcome.code == Self.partial, outcome.reports("No such file or directory") {
            return PublicationFinding(isEmpty: true, record: nil)
        }
        guard outcome.hasSucceeded else { throw error(outcome) }
        return PublicationFinding(isEmpty: names.isEmpty, record: record)
    }

    func put(
        _ items: [ExportContents.Item], done: @escaping @LoopActor (ExportContents.Item, Bool) -> Void
    ) async throws(ExchangeError) {
        guard !items.isEmpty else { return }
        let byPath = Dictionary(items.map { ($0.path, $0) }) { $1 }
        let outcome =
            try await inWorkFolder { [self] work throws(StoreError) in
                let folder = try work.subdirectory("film", create: true)
                defer { Self.removeLinks(from: folder, to: items) }
                try Self.fill(folder, with: items)
                let sent = Mutex<Set<String>>([])
                // Pieces never change. Texts are rewritten each time, so that their times differ.
                for (isText, exactly) in [(false, "--times"), (true, "--checksum")] {
                    let paths = items.filter { $0.isText == isText }.map(\.path)
                    guard !paths.isEmpty else { continue }
                    try work.write(Array(paths.map { $0 + "\n" }.joined().utf8), as: "list")
                    let outcome = try ChildProgram.run(
                        program,
                        options + [
                            exactly, "--files-from=\(work.path)/list", "--no-implied-dirs", "--recursive", "--perms",
                            "--chmod=Du=rwx,Dgo=rx,Fu=rw,Fgo=r", "--partial-dir=.weir-part", "--out-format=%i %n", "--",
                            folder.path + "/", address + "/",
                        ], in: work, cancellation: cancellation
                    ) { line in
                        guard line.hasPrefix("<f"), let path = line.split(separator: " ").last.map(String.init) else {
                            return
                        }
                        // The bytes may be up to date, and only the time wrong.
                        guard
                            line.dropFirst(2).first == "+" || line.dropFirst(2).prefix(2).contains(where: "cs".contains)
                        else { return }
                        guard sent.withLock({ $0.insert(path).inserted }), let item = byPath[path] else { return }
                        Task { @LoopActor in done(item, true) }
                    }
                    guard outcome.hasSucceeded else { return outcome }
                    for item in items where item.isText == isText && !sent.withLock({ $0.contains(item.path) }) {
                        Task { @LoopActor in done(item, false) }
                    }
                }
                return nil
            } as ChildProgram.Outcome?
        if let outcome {
            throw error(outcome)
        }
    }

    func delete(_ paths: [String]) async throws(ExchangeError) {
        let outcome = try await inWorkFolder { [self] work throws(StoreError) in
            let folder = try work.subdirectory("film", create: true)
            let nested = paths.filter { $0.contains("/") }
            for name in Set(nested.map { path in String(path.prefix { $0 != "/" }) }) {
                _ = try folder.subdirectory(name, create: true)
            }
            try work.write(Array(paths.map { $0 + "\n" }.joined().utf8), as: "list")
            return try ChildProgram.run(
                program,
                options + [
                    "--files-from=\(work.path)/list", "--no-implied-dirs", "--delete-missing-args", "--force", "--",
                    folder.path + "/", address + "/",
                ], in: work, cancellation: cancellation)
        }
        guard outcome.hasSucceeded else { throw error(outcome) }
    }

    func cancel() { cancellation.cancel() }

    // MARK: Work

    private nonisolated static func fill(_ folder: Directory, with items: [ExportContents.Item]) throws(StoreError) {
        for item in items {
            let home = try item.folder.map { name throws(StoreError) in try folder.subdirectory(name, create: true) }
            switch item.source {
            case .text(let bytes): try (home ?? folder).write(bytes, as: item.name)
            case .piece: try item.link(into: home ?? folder)
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
        try await onDisk { [store, address] () throws(StoreError) in
            var value: Value?
            try store.withWorkFolder { work throws(StoreError) in value = try body(work) }
            guard let value else { throw StoreError(.io, path: address) }
            return value
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
