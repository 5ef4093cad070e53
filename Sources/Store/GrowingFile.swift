import CLinux
import Glibc

/// A resource on its way in: one writer appends, many readers send what is there.
///
/// It grows in `tmp/` and becomes a piece by a rename when it is whole, or it has no name at all: what may not be kept
/// takes the same road. When the disk gives no more room, it moves into memory and goes on, so that who is watching
/// sees the end; it is then not kept. Confined to the thread that made it. Owns its descriptor and its temporary name.
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

    /// Where the bytes are. Changes when the file moves into memory: read it anew for each use, or duplicate it.
    public private(set) var descriptor: Int32
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
    /// One subscription; without its closure once it has ended.
    private final class Observer {
        let id: Int
        var wake: (() -> Void)?

        init(id: Int, wake: @escaping () -> Void) {
            self.id = id
            self.wake = wake
        }
    }

    private var observers: [Observer] = []
    private var lastObserver = 0

    /// A file that may become a piece, named `name` in `folder` until then.
    ///
    /// - Throws: `StoreError` when the folder takes no file.
    public init(in folder: Directory, named name: String) throws(StoreError) {
        descriptor = try folder.open(name, flags: O_RDWR | O_CREAT | O_EXCL)
        home = (folder, name)
    }

    /// A file without a name: on the disk of `folder` where that is possible, else in memory.
    ///
    /// - Throws: `StoreError` when there is no descriptor to be had.
    public init(anonymousIn folder: Directory?) throws(StoreError) {
        if let folder, let opened = try? folder.openAnonymous() {
            descriptor = opened
        } else {
            descriptor = try Self.openMemory()
            isInMemory = true
        }
    }

    deinit {
        close(descriptor)
        if let home { try? home.folder.remove(home.name) }
    }

    /// Whether `commit(to:as:)` can succeed.
    public var isKeepable: Bool { home != nil && spillReason == nil }

    // MARK: Writing

    /// Takes the bytes at `offset` of the resource.
    ///
    /// Bytes that are there already (an origin that could not resume starts again from 0) are compared, not written.
    ///
    /// - Throws: `contentChanged` when they differ, `wrongLength` when the bytes would leave a gap, and the system's
    ///   error
    ///   when neither disk nor memory takes them.
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
        var done = 0
        while done < bytes.count {
            let count = pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(written))
            if count > 0 {
                done += count
                written += Int64(count)
            } else if count == 0 || errno != EINTR {
                try spill(because: count == 0 ? StoreError(.io, path: name) : StoreError(path: name))
            }
        }
    }

    private func compare(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
        var buffer = [UInt8](repeating: 0, count: min(bytes.count, 65_536))
        var done = 0
        while done < bytes.count {
            let count = pread(descriptor, &buffer, min(buffer.count, bytes.count - done), off_t(offset) + off_t(done))
            guard count > 0 else { throw count == 0 ? StoreError(.io, path: name) : StoreError(path: name) }
            guard memcmp(buffer, bytes.baseAddress! + done, count) == 0 else {
                throw StoreError(.contentChanged, path: name)
            }
            done += count
        }
    }

    // MARK: Moving into memory

    /// Goes on in memory with what is written so far. Throws `reason` when it lives there already, or cannot.
    private func spill(because reason: StoreError) throws(StoreError) {
        guard !isInMemory, let memory = try? Self.openMemory() else { throw reason }
        guard copy(to: memory) else {
            close(memory)
            throw reason
        }
        close(descriptor)
        descriptor = memory
        isInMemory = true
        spillReason = reason
        forgetName()
    }

    private func copy(to other: Int32) -> Bool {
        var offset: off_t = 0
        while offset < written {
            let count = sendfile(other, descriptor, &offset, Int(written - Int64(offset)))
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
    public func commit(to folder: Directory, as target: String) throws(StoreError) {
        guard let home else { throw spillReason ?? StoreError(.notWritable, path: folder.path) }
        CommittedLength.note(written, on: descriptor)
        try home.folder.move(home.name, to: folder, as: target)
        self.home = nil
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
        var buffer = [UInt8](repeating: 0, count: Int(min(Int64(count), max(written - offset, 0))))
        let got = pread(descriptor, &buffer, buffer.count, off_t(offset))
        return Array(buffer.prefix(max(got, 0)))
    }

    /// Calls `wake` after each change of `written` or `state`, and when there is something `fresh`, until the id that
    /// is returned is given to `unsubscribe`.
    public func subscribe(_ wake: @escaping () -> Void) -> Int {
        lastObserver += 1
        observers.append(Observer(id: lastObserver, wake: wake))
        return lastObserver
    }

    /// Ends what `subscribe` began: `wake` is not called again, not even in the round that is under way.
    public func unsubscribe(_ id: Int) {
        guard let index = observers.firstIndex(where: { $0.id == id }) else { return }
        observers[index].wake = nil
        observers.remove(at: index)
    }

    private func wake() {
        for observer in observers { observer.wake?() }
    }
}
