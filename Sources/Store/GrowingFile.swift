import CLinux
import Glibc

/// A resource on its way in: one writer appends, many readers send what is there.
///
/// It grows in `tmp/` and becomes a piece by a rename when it is whole, or it has no name at all: what may not be kept
/// takes the same road. When the disk gives no more room, it moves into memory and goes on, so that who is watching
/// sees the end; it is then not kept. What only a download waits for may be gathered in memory first, and becomes a
/// file when it is large or somebody reads it, or a piece in one go. Confined to the thread that made it. Owns its
/// descriptor and its temporary name.
public final class GrowingFile {
    /// How far the writer is.
    public enum State: Equatable, Sendable {
        /// More bytes may come.
        case open
        /// All bytes are there: `written` is the length.
        case complete
        /// No more bytes will come, and some are missing.
        case failed
    }

    /// Where the bytes are. Changes when the file moves into memory: read it anew for each use, or duplicate it. -1 when
    /// `materialize()` is still to be called, and fails.
    public var descriptor: Int32 {
        if opened < 0 { try? materialize() }
        return opened
    }
    private var opened: Int32 = -1
    /// All bytes, as long as there is no descriptor.
    private var gathered: [UInt8]?
    /// How many bytes are there, from offset 0 on.
    public private(set) var written: Int64 = 0
    /// The bytes behind `written`, on their way into the file: there while readers are woken for them, nil at any other
    /// time.
    ///
    /// A reader that is up to date can send them from memory. What it does not take comes again with the file.
    public private(set) var fresh: UnsafeRawBufferPointer?
    /// How far the writer is.
    public private(set) var state = State.open
    /// Why the file cannot become a piece although it has a name; nil as long as it can.
    public private(set) var spillReason: StoreError?

    private var home: (folder: Directory, name: String)?
    private var isInMemory = false
    private let observers = Observers()

    /// A file that may become a piece, named `name` in `folder` until then.
    ///
    /// - Throws: `StoreError` when the folder takes no file.
    public init(in folder: Directory, named name: String) throws(StoreError) {
        opened = try folder.open(name, flags: Self.newFile)
        home = (folder, name)
    }

    /// The same, gathered in memory at first.
    init(gatheringIn folder: Directory, named name: String) {
        gathered = []
        home = (folder, name)
    }

    /// A file without a name: on the disk of `folder` where that is possible, else in memory.
    ///
    /// - Throws: `StoreError` when there is no descriptor to be had.
    public init(anonymousIn folder: Directory?) throws(StoreError) {
        if let folder, let file = try? folder.openAnonymous() {
            opened = file
        } else {
            opened = try Self.openMemory()
            isInMemory = true
        }
    }

    deinit {
        guard opened >= 0 else { return }
        close(opened)
        if let home { try? home.folder.remove(home.name) }
    }

    private static let newFile = O_RDWR | O_CREAT | O_EXCL
    /// So many bytes are gathered at most.
    private static let mostGathered = 64 << 10

    /// Whether `commit(to:as:)` can succeed.
    public var isKeepable: Bool { home != nil && spillReason == nil }

    // MARK: Writing

    /// Takes the bytes at `offset` of the resource.
    ///
    /// Bytes that are there already (an origin that could not resume starts again from 0) are compared, not written.
    ///
    /// - Throws: `contentChanged` when they differ, `wrongLength` when the bytes would leave a gap, and the system's
    ///   error when neither disk nor memory takes them.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
        guard offset <= written else { throw StoreError(.wrongLength, path: name) }
        let known = Int(min(written - offset, Int64(bytes.count)))
        if known > 0 { try compare(UnsafeRawBufferPointer(rebasing: bytes[..<known]), at: offset) }
        guard known < bytes.count else { return }
        let new = UnsafeRawBufferPointer(rebasing: bytes[known...])
        fresh = new
        wake()
        fresh = nil
        try append(new)
        wake()
    }

    private func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        if gathered != nil {
            guard Int(written) + bytes.count > Self.mostGathered else { return gather(bytes) }
            try materialize()
        }
        var done = 0
        while done < bytes.count {
            let count = pwrite(opened, bytes.baseAddress! + done, bytes.count - done, off_t(written))
            if count > 0 {
                done += count
                written += Int64(count)
            } else if count == 0 || errno != EINTR {
                try spill(because: count == 0 ? StoreError(.io, path: name) : StoreError(path: name))
            }
        }
    }

    private func gather(_ bytes: UnsafeRawBufferPointer) {
        gathered?.append(contentsOf: bytes)
        written += Int64(bytes.count)
    }

    private func compare(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
        if let gathered {
            guard gathered[Int(offset)...].starts(with: bytes) else { throw StoreError(.contentChanged, path: name) }
            return
        }
        var buffer = [UInt8](repeating: 0, count: min(bytes.count, 65_536))
        var done = 0
        while done < bytes.count {
            let count = pread(opened, &buffer, min(buffer.count, bytes.count - done), off_t(offset) + off_t(done))
            guard count > 0 else { throw count == 0 ? StoreError(.io, path: name) : StoreError(path: name) }
            guard memcmp(buffer, bytes.baseAddress! + done, count) == 0 else {
                throw StoreError(.contentChanged, path: name)
            }
            done += count
        }
    }

    /// Gives what was gathered a descriptor: for a reader, or since there is more of it than is gathered.
    ///
    /// - Throws: `StoreError` when there is neither disk nor memory for it; it stays as it is.
    public func materialize() throws(StoreError) {
        guard let bytes = gathered else { return }
        do throws(StoreError) {
            if let home { opened = try home.folder.open(home.name, flags: Self.newFile) }
        } catch {
            (spillReason, home) = (error, nil)
        }
        if opened < 0 { (opened, isInMemory) = (try Self.openMemory(), true) }
        (gathered, written) = (nil, 0)
        let failure = bytes.withUnsafeBytes { bytes -> StoreError? in
            do throws(StoreError) {
                try append(bytes)
                return nil
            } catch {
                return error
            }
        }
        guard let failure else { return }
        forgetName()
        close(opened)
        (opened, gathered, written, spillReason) = (-1, bytes, Int64(bytes.count), failure)
        throw failure
    }

    // MARK: Moving into memory

    /// Goes on in memory with what is written so far. Throws `reason` when it lives there already, or cannot.
    private func spill(because reason: StoreError) throws(StoreError) {
        guard !isInMemory, let memory = try? Self.openMemory() else { throw reason }
        guard copy(to: memory) else {
            close(memory)
            throw reason
        }
        close(opened)
        opened = memory
        isInMemory = true
        spillReason = reason
        forgetName()
    }

    private func copy(to other: Int32) -> Bool {
        var offset: off_t = 0
        while offset < written {
            let count = sendfile(other, opened, &offset, Int(written - Int64(offset)))
            guard count > 0 || (count < 0 && errno == EINTR) else { return false }
        }
        return true
    }

    private static func openMemory() throws(StoreError) -> Int32 {
        let opened = weir_memfd_create("weir")
        guard opened >= 0 else { throw StoreError(path: "memory") }
        return opened
    }

    // MARK: The end

    /// Becomes the piece `target` in `folder`. The bytes stay where `descriptor` points to.
    ///
    /// - Throws: `StoreError` when the file has no name to keep, or the rename fails. The file stays readable all the
    ///   same.
    public func commit(to folder: PieceDirectory, as target: String) throws(StoreError) {
        guard let home else { throw spillReason ?? StoreError(.notWritable, path: folder.directory.path) }
        var kept = dup(descriptor)
        folder.coming(target)
        do throws(StoreError) {
            do throws(StoreError) {
                try home.folder.move(home.name, to: folder.directory, as: target)
            } catch  where error.errno == EXDEV {
                // The bundle was moved to another disk meanwhile.
                close(kept)
                kept = try copy(to: folder, as: target)
                try? home.folder.remove(home.name)
            }
        } catch {
            folder.failed(target)
            if kept >= 0 { close(kept) }
            throw error
        }
        self.home = nil
        folder.came(target, size: written, descriptor: kept >= 0 ? kept : nil)
    }

    /// Becomes a piece on another disk by a copy there. For the few files that are on their way while a bundle is moved:
    /// whoever calls waits for the disk.
    ///
    /// - Returns: the copy, open.
    private func copy(to folder: PieceDirectory, as target: String) throws(StoreError) -> Int32 {
        guard let temporary = folder.temporary, let home else {
            throw StoreError(.notWritable, path: folder.directory.path)
        }
        let file = try temporary.open(home.name, flags: Self.newFile)
        do throws(StoreError) {
            try FileCopy.copy(descriptor, count: written, to: file, path: temporary.path + "/" + home.name)
            try temporary.move(home.name, to: folder.directory, as: target)
        } catch {
            close(file)
            try? temporary.remove(home.name)
            throw error
        }
        return file
    }

    /// Gives away what was gathered, to become a piece; nil where it is not gathered, or may not be kept. It stays
    /// readable here, and gets no name any more.
    public func handOver() -> GatheredFile? {
        guard let gathered, let home, spillReason == nil else { return nil }
        self.home = nil
        return GatheredFile(gathered, in: home.folder, named: home.name)
    }

    /// Tells the readers that all bytes are there.
    public func finish() { end(as: .complete) }

    /// Tells the readers that no more bytes will come.
    public func fail() { end(as: .failed) }

    /// Takes more bytes after a failure: what is there so far is gone on from.
    public func reopen() { if state == .failed { state = .open } }

    private func end(as state: State) {
        guard self.state == .open else { return }
        self.state = state
        wake()
    }

    private func forgetName() {
        guard let home else { return }
        try? home.folder.remove(home.name)
        self.home = nil
    }

    private var name: String { home.map { $0.folder.path + "/" + $0.name } ?? "an unnamed file" }

    // MARK: Reading

    /// The first bytes, at most `count` of them.
    public func prefix(_ count: Int) -> [UInt8] { bytes(from: 0, count: count) }

    /// The bytes from `offset` on, at most `count` of them.
    public func bytes(from offset: Int64, count: Int) -> [UInt8] {
        let count = Int(min(Int64(count), max(written - offset, 0)))
        if let gathered { return count > 0 ? Array(gathered[Int(offset)...].prefix(count)) : [] }
        var buffer = [UInt8](repeating: 0, count: count)
        let got = pread(opened, &buffer, buffer.count, off_t(offset))
        return Array(buffer.prefix(max(got, 0)))
    }

    /// Calls `wake` after each change of `written` or `state`, and when there is something `fresh`, until the id that
    /// is returned is given to `unsubscribe`.
    public func subscribe(_ wake: @escaping () -> Void) -> Int { observers.add(wake) }

    /// Ends what `subscribe` began: `wake` is not called again, not even in the round that is under way.
    public func unsubscribe(_ id: Int) { observers.remove(id) }

    private func wake() { observers.wake() }
}
