import EventLoop
import Glibc
import Store
import Synchronization

/// A place that the program rsync knows as one to publish to.
///
/// rsync itself finds what is there already: pieces by their length and time, texts by their bytes. It gets a folder of
/// links to the pieces, and a list of the files that are meant, one stage at a time; what is to be deleted is a list too,
/// so that nothing else goes. A folder that is empty then stays: rsync would delete one with others' files as well.
@LoopActor final class RsyncSite: PublicationSite {
    nonisolated let place: String
    private let store: Store
    private let program: String
    private let leash = ChildProgram.Leash()

    init(_ place: String, _ store: Store) throws(LibraryError) {
        guard let program = ChildProgram.find("rsync") else {
            throw LibraryError(.noProgram, "rsync, which \(place) wants, is not in the daemon's PATH")
        }
        (self.place, self.store, self.program) = (
            place.hasSuffix("/") ? String(place.dropLast()) : place, store, program
        )
    }

    /// rsync asks for no password, reads no more options, and waits a minute for a silent peer.
    private nonisolated var usual: [String] {
        let isDaemon = place.hasPrefix("rsync://")
        return ["--timeout=60", isDaemon ? "--contimeout=10" : "--rsh=ssh -o BatchMode=yes -o ConnectTimeout=10"]
    }

    func look() async throws(LibraryError) -> PublicationFinding {
        let finding = try await working {
            [self] work throws(StoreError) -> (ChildProgram.Outcome, [UInt8]?, [String]) in
            let names = Mutex<[String]>([])
            let listed = try ChildProgram.run(
                program, usual + ["--list-only", "--", place + "/"], saying: work, leash: leash
            ) { line in names.withLock { $0.append(String(line)) } }
            let lines = names.withLock { $0 }.filter { !$0.hasSuffix(" .") }
            guard listed.isGood, lines.contains(where: { $0.hasSuffix(" " + PublicationRecord.fileName) }) else {
                return (listed, nil, lines)
            }
            let got = try ChildProgram.run(
                program, usual + ["--", "\(place)/\(PublicationRecord.fileName)", work.path + "/record"], saying: work,
                leash: leash)
            return (got, got.isGood ? try work.read("record") ?? [] : nil, lines)
        }
        let (outcome, record, names) = finding
        // What is not there is made, if only its last folder is missing.
        if outcome.code == Self.partial, outcome.said("No such file or directory") {
            return PublicationFinding(isEmpty: true, record: nil)
        }
        guard outcome.isGood else { throw error(outcome) }
        return PublicationFinding(isEmpty: names.isEmpty, record: record)
    }

    func put(
        _ items: [ExportContents.Item], done: @escaping @LoopActor (ExportContents.Item, Bool) -> Void
    ) async throws(LibraryError) {
        guard !items.isEmpty else { return }
        let byPath = Dictionary(items.map { ($0.path, $0) }) { $1 }
        let outcome =
            try await working { [self] work throws(StoreError) in
                let folder = try work.subdirectory("film", create: true)
                try Self.fill(folder, with: items)
                let sent = Mutex<Set<String>>([])
                // Pieces never change; texts are written anew each time.
                for (isText, exactly) in [(false, "--times"), (true, "--checksum")] {
                    let paths = items.filter { $0.isText == isText }.map(\.path)
                    guard !paths.isEmpty else { continue }
                    try work.write(Array(paths.map { $0 + "\n" }.joined().utf8), as: "list")
                    let outcome = try ChildProgram.run(
                        program,
                        usual + [
                            exactly, "--files-from=\(work.path)/list", "--no-implied-dirs", "--recursive", "--perms",
                            "--chmod=Du=rwx,Dgo=rx,Fu=rw,Fgo=r", "--partial-dir=.weir-part", "--out-format=%i %n", "--",
                            folder.path + "/", place + "/",
                        ], saying: work, leash: leash
                    ) { line in
                        guard line.hasPrefix("<f"), let path = line.split(separator: " ").last.map(String.init) else {
                            return
                        }
                        // Its bytes may be there, and its time another.
                        guard
                            line.dropFirst(2).first == "+" || line.dropFirst(2).prefix(2).contains(where: "cs".contains)
                        else { return }
                        guard sent.withLock({ $0.insert(path).inserted }), let item = byPath[path] else { return }
                        Task { @LoopActor in done(item, true) }
                    }
                    guard outcome.isGood else { return outcome }
                    for item in items where item.isText == isText && !sent.withLock({ $0.contains(item.path) }) {
                        Task { @LoopActor in done(item, false) }
                    }
                }
                return nil
            } as ChildProgram.Outcome?
        if let outcome { throw error(outcome) }
    }

    func delete(_ paths: [String]) async throws(LibraryError) {
        let outcome = try await working { [self] work throws(StoreError) in
            let folder = try work.subdirectory("film", create: true)
            for name in Set(paths.compactMap { $0.contains("/") ? String($0.prefix { $0 != "/" }) : nil }) {
                _ = try folder.subdirectory(name, create: true)
            }
            try work.write(Array(paths.map { $0 + "\n" }.joined().utf8), as: "list")
            return try ChildProgram.run(
                program,
                usual + [
                    "--files-from=\(work.path)/list", "--no-implied-dirs", "--delete-missing-args", "--force", "--",
                    folder.path + "/", place + "/",
                ], saying: work, leash: leash)
        }
        guard outcome.isGood else { throw error(outcome) }
    }

    func cancel() { leash.pull() }

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

    private nonisolated func working<Value: Sendable>(
        _ body: @escaping @Sendable (Directory) throws(StoreError) -> Value
    ) async throws(LibraryError) -> Value {
        do {
            return try await DiskWork.run { [store, place] () throws(StoreError) in
                var value: Value?
                try store.withWorkFolder { work throws(StoreError) in value = try body(work) }
                guard let value else { throw StoreError(.io, path: place) }
                return value
            }
        } catch {
            throw LibraryError(leaving: error, "nothing more is published to \(place)")
        }
    }

    /// rsync(1), EXIT VALUES: some files could not be transferred.
    private static let partial: Int32 = 23

    private func error(_ outcome: ChildProgram.Outcome) -> LibraryError {
        let code: LibraryError.Code =
            switch outcome.code {
            case nil, 20?: .cancelled
            // Sockets, its protocol's stream, silence, and ssh's own.
            case 10?, 30?, 35?, 255?: .originAbsent
            case 12? where !outcome.said("No space left"): .originAbsent
            default: .badTarget
            }
        let reason = outcome.complaints.first ?? "it failed without a word"
        return LibraryError(code, "rsync publishes nothing more to \(place): \(reason)")
    }
}

extension ExportContents.Item {
    fileprivate var isText: Bool { if case .text = source { true } else { false } }
}

extension ChildProgram.Outcome {
    fileprivate func said(_ words: String) -> Bool { complaints.contains { $0.contains(words) } }
}
