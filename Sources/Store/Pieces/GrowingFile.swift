import CLinux
import Glibc

/// A resource that is being received: one writer appends, many readers send the bytes received so far.
///
/// It grows in `tmp/`, and a rename makes it a piece when it is complete. A resource that must not be stored is a file without
/// a name. On a full disk the file moves into memory, so that the current players get the whole resource; it is then not
/// stored. A download without readers gathers bytes in memory: they become a file when there are many of them or when a reader
/// comes, or a piece in one write. Confined to its thread. Owns its descriptor and temporary name.
public final class GrowingFile {
    /// The writer's state.
    public enum State: Equatable, Sendable {
        case open
        /// Complete: `written` is the length.
        case complete
        /// Ended with bytes missing.
        case failed
    }

    /// The open file. It changes when the file moves into memory: read the property for each use, or duplicate the
    /// descriptor. -1 if the bytes are gathered in memory and `materialize()` fails.
    public var descriptor: Int32 {
        if opened < 0 {
            try? materialize()
        }
        return opened
    }
    private var opened: Int32 = -1
    /// The open file once it is a piece: the sync thread is its other owner. Nil before.
    private var shared: SharedDescriptor?
    /// The first bytes of a file on the disk, which are looked at to know what it is.
    private var beginning: [UInt8] = []
    private static let longestBeginning = 1024
    /// All bytes while there is no descriptor.
    private var gathered: [UInt8]?
    /// True if all of it is gathered in memory, which has room for it: it is appended in small parts at no cost.
    public var takesSmallParts: Bool { hasRoom && gathered != nil }
    private var hasRoom = false
    /// The number of bytes received, from offset 0.
    public var written: Int64 { writtenCount }
    // Stored apart from `written`, as are `freshBytes` and `present`: of a private variable the compiler sees that no two uses overlap,
    // and leaves out the check of each.
    private var writtenCount: Int64 = 0
    /// The bytes after `written` that are about to be appended: set while readers are notified of them, nil otherwise.
    ///
    /// A reader that has sent everything before can send them from memory. A reader that does not gets them from the file.
    public var fresh: UnsafeRawBufferPointer? { freshBytes }
    private var freshBytes: UnsafeRawBufferPointer?
    /// The writer's state.
    public var state: State { present }
    private var present = State.open
    /// The error because of which the file cannot become a piece; nil while it can.
    public private(set) var spillReason: StoreError?
    /// The modification time that a piece made of this file gets, in nanoseconds since 1970. It is known before the first
    /// byte, so an entity tag made of it is the same for the growing file and for the piece.
    public let modified: Int64 = {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return now.nanoseconds
    }()
    private var home: (folder: Directory, name: String)?
    private var isInMemory = false
    /// False if its bytes are in memory because the disk has no room, or cannot be written.
    public var isOnDisk: Bool { !isInMemory }
    private let observers = Observers()

    /// Makes a file that may become a piece, named `name` in `folder` until then.
    public init(in folder: Directory, named name: String) throws(StoreError) {
        opened = try folder.open(name, flags: Self.newFile)
        home = (folder, name)
    }

    /// Makes such a file that is first gathered in memory.
    init(gatheringIn folder: Directory, named name: String) {
        gathered = []
        home = (folder, name)
    }

    /// Makes a file without a name: on the disk of `folder` if possible, otherwise in memory.
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
        if let shared {
            shared.release()
        } else {
            close(opened)
        }
        if let home {
            try? home.folder.remove(home.name)
        }
    }

    private static let newFile = O_RDWR | O_CREAT | O_EXCL
    /// The maximum number of bytes gathered in memory.
    private static let mostGathered = 64 << 10
    /// The maximum number of bytes moved into memory because the disk is full.
    private static let mostSpilled: Int64 = 512 << 20
    /// True if `commit(to:as:)` can succeed.
    public var isKeepable: Bool { home != nil && spillReason == nil }

    // MARK: Writing

    /// Makes room in memory for all bytes, if they are gathered there.
    /// - Parameter length: the number of bytes that the origin has announced; nil for none.
    public func expect(_ length: Int64?) {
        hasRoom = false
        guard gathered != nil, let length, length <= Self.mostGathered else { return }
        gathered?.reserveCapacity(max(0, Int(length)))
        hasRoom = true
    }

    /// Appends the bytes at `offset` of the resource.
    ///
    /// Bytes received before are compared, not written: an origin that cannot resume starts from 0. Throws `contentChanged` if
    /// they differ, `wrongLength` for a gap, and the system's error if neither disk nor memory has room.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
        guard offset <= written else { throw StoreError(.wrongLength, path: name) }
        let known = Int(min(written - offset, Int64(bytes.count)))
        if known > 0 {
            try compare(UnsafeRawBufferPointer(rebasing: bytes[..<known]), at: offset)
        }
        guard known < bytes.count else { return }
        let new = UnsafeRawBufferPointer(rebasing: bytes[known...])
        freshBytes = new
        observers.notify()
        freshBytes = nil
        try append(new)
        observers.notify()
    }

    private func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        if gathered != nil {
            guard Int(written) + bytes.count > Self.mostGathered else { return gather(bytes) }
            try materialize()
        }
        let before = Int(written)
        var done = 0
        while done < bytes.count {
            let count = pwrite(opened, bytes.baseAddress! + done, bytes.count - done, off_t(written))
            if count > 0 {
                done += count
                writtenCount += Int64(count)
            } else if count == 0 || errno != EINTR {
                try spill(because: .incomplete(count, path: name))
            }
        }
        if before < Self.longestBeginning, before == beginning.count {
            beginning.append(contentsOf: bytes.prefix(Self.longestBeginning - before))
        }
    }

    private func gather(_ bytes: UnsafeRawBufferPointer) {
        gathered?.append(contentsOf: bytes)
        writtenCount += Int64(bytes.count)
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
            guard count > 0 else { throw .incomplete(count, path: name) }
            guard memcmp(buffer, bytes.baseAddress! + done, count) == 0 else {
                throw StoreError(.contentChanged, path: name)
            }
            done += count
        }
    }

    /// Writes the gathered bytes into a file. If neither disk nor memory has room it throws, and the bytes stay gathered.
    public func materialize() throws(StoreError) {
        guard let bytes = gathered else { return }
        do throws(StoreError) {
            if let home {
                opened = try home.folder.open(home.name, flags: Self.newFile)
            }
        } catch {
            spillReason = error
            home = nil
        }
        if opened < 0 {
            opened = try Self.openMemory()
            isInMemory = true
        }
        gathered = nil
        writtenCount = 0
        let failure = bytes.withUnsafeBytes { bytes -> StoreError? in
            do throws(StoreError) {
                try append(bytes)
                return nil
            } catch {
                return error
            }
        }
        guard let failure else { return }
        removeName()
        close(opened)
        opened = -1
        gathered = bytes
        writtenCount = Int64(bytes.count)
        spillReason = failure
        throw failure
    }

    // MARK: Moving into memory

    /// Moves the bytes into memory. Throws `reason` if they are in memory already, or cannot be moved.
    private func spill(because reason: StoreError) throws(StoreError) {
        guard !isInMemory, written <= Self.mostSpilled, let memory = try? Self.openMemory() else { throw reason }
        guard copy(to: memory) else {
            close(memory)
            throw reason
        }
        close(opened)
        opened = memory
        isInMemory = true
        spillReason = reason
        removeName()
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

    /// Renames the file to the piece `target` in `folder`; it stays readable. Returns the piece's identity, if it is known.
    /// Throws if it has no name or the rename fails.
    @discardableResult
    package func commit(to folder: PieceDirectory, as target: String) throws(StoreError) -> FileIdentity? {
        guard let home else { throw spillReason ?? StoreError(.notWritable, path: folder.directory.path) }
        let own = descriptor
        setTime(own)
        folder.willAdd(target)
        let piece: SharedDescriptor?
        do throws(StoreError) {
            do throws(StoreError) {
                try home.folder.move(home.name, to: folder.directory, as: target)
                piece = share(own)
            } catch  where error.errno == EXDEV {
                // The bundle was moved to another volume meanwhile.
                piece = SharedDescriptor(try copy(to: folder, as: target))
                try? home.folder.remove(home.name)
            }
        } catch {
            folder.didFail(target)
            throw error
        }
        self.home = nil
        return folder.didAdd(target, size: written, descriptor: piece)
    }

    /// Makes the sync thread another owner of the open file.
    private func share(_ own: Int32) -> SharedDescriptor? {
        guard own >= 0 else { return nil }
        let piece = SharedDescriptor(own, owners: 2)
        shared = piece
        return piece
    }

    /// Without the time, a client that resumes the body gets it from its start.
    private func setTime(_ file: Int32) { futimens(file, timespec.times(modified)) }

    /// Copies the file to another volume, because its bundle was moved meanwhile. The caller waits for the disk.
    private func copy(to folder: PieceDirectory, as target: String) throws(StoreError) -> Int32 {
        guard let temporary = folder.temporary, let home else {
            throw StoreError(.notWritable, path: folder.directory.path)
        }
        let file = try temporary.open(home.name, flags: Self.newFile)
        do throws(StoreError) {
            try FileCopy.copy(descriptor, count: written, to: file, path: temporary.path + "/" + home.name)
            setTime(file)
            try temporary.move(home.name, to: folder.directory, as: target)
        } catch {
            close(file)
            try? temporary.remove(home.name)
            throw error
        }
        return file
    }

    /// Hands over the gathered bytes, to become a piece; nil if none or not to be stored. They stay readable here.
    public func handOver() -> GatheredFile? {
        guard let gathered, let home, spillReason == nil else { return nil }
        self.home = nil
        return GatheredFile(gathered, modified: modified, in: home.folder, named: home.name)
    }

    /// Ends the file as complete, and notifies the readers.
    public func finish() { end(as: .complete) }
    /// Ends the file as incomplete, and notifies the readers.
    public func fail() { end(as: .failed) }
    /// Continues after a failure: more bytes can be appended.
    public func reopen() {
        if present == .failed {
            present = .open
        }
    }

    private func end(as state: State) {
        guard present == .open else { return }
        present = state
        observers.notify()
    }

    private func removeName() {
        guard let home else { return }
        try? home.folder.remove(home.name)
        self.home = nil
    }

    private var name: String {
        guard let home else { return "an unnamed file" }
        return home.folder.path + "/" + home.name
    }

    // MARK: Reading

    /// The first bytes, at most `count` of them.
    public func prefix(_ count: Int) -> [UInt8] { bytes(from: 0, count: count) }

    /// The bytes from `offset` on, at most `count` of them.
    public func bytes(from offset: Int64, count: Int) -> [UInt8] {
        let count = Int(min(Int64(count), max(written - offset, 0)))
        if let gathered {
            guard count > 0 else { return [] }
            return Array(gathered[Int(offset)...].prefix(count))
        }
        if Int(offset) + count <= beginning.count {
            return Array(beginning[Int(offset)..<(Int(offset) + count)])
        }
        let file = opened
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
            length = max(0, pread(file, buffer.baseAddress, count, off_t(offset)))
        }
    }

    /// Calls `notify` after each change of `written` or `state`, and while `fresh` is set. Returns the id for `unsubscribe`.
    public func subscribe(_ notify: @escaping () -> Void) -> Int { observers.add(notify) }
    /// Ends a subscription: its closure is not called again, not even in the current round.
    public func unsubscribe(_ id: Int) { observers.remove(id) }
}

extension timespec {
    /// The time in nanoseconds since 1970.
    fileprivate var nanoseconds: Int64 { Int64(tv_sec &* 1_000_000_000 &+ tv_nsec) }

    /// Access and modification time for futimens(2), from nanoseconds since 1970.
    fileprivate static func times(_ nanoseconds: Int64) -> [timespec] {
        let time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        return [time, time]
    }
}

/// Closures that are called after a change. A closure may add and remove closures.
final class Observers {
    private final class Observer {
        let id: Int
        let notify: () -> Void
        var isRemoved = false

        init(id: Int, notify: @escaping () -> Void) {
            self.id = id
            self.notify = notify
        }
    }

    private var observers: [Observer] = []
    private var last = 0

    /// Adds a closure, which is called from the next round on. Returns the id for `remove`.
    func add(_ notify: @escaping () -> Void) -> Int {
        last += 1
        observers.append(Observer(id: last, notify: notify))
        return last
    }

    /// Removes a closure: it is not called again, not even in the current round.
    func remove(_ id: Int) {
        guard let index = observers.firstIndex(where: { $0.id == id }) else { return }
        observers[index].isRemoved = true
        observers.remove(at: index)
    }

    func notify() {
        for observer in observers where !observer.isRemoved {
            observer.notify()
        }
    }
}

/// A complete resource in memory, gathered by a `GrowingFile`, that is to become a piece.
///
/// Sendable: it never changes. Another thread may write it while the first reads its bytes.
public struct GatheredFile: Sendable {
    private let bytes: [UInt8]
    private let modified: Int64
    private let temporary: Directory
    private let name: String

    init(_ bytes: [UInt8], modified: Int64, in temporary: Directory, named name: String) {
        self.bytes = bytes
        self.modified = modified
        self.temporary = temporary
        self.name = name
    }

    /// The length in bytes.
    public var count: Int { bytes.count }

    /// Writes the piece `target` in `folder`: all of it or nothing, even after a crash. After an error it may be tried again.
    /// Returns the piece's identity, if it is known.
    @discardableResult
    func commit(to folder: PieceDirectory, as target: String) throws(StoreError) -> FileIdentity? {
        var descriptor: Int32 = -1
        func finish(_ file: Int32) {
            futimens(file, timespec.times(modified))
            descriptor = dup(file)
        }
        folder.willAdd(target)
        do throws(StoreError) {
            do throws(StoreError) {
                try temporary.write(bytes, through: name, to: folder.directory, as: target, finish: finish)
            } catch  where error.errno == EXDEV {
                // The bundle was moved to another volume meanwhile.
                guard let other = folder.temporary else { throw error }
                if descriptor >= 0 {
                    close(descriptor)
                }
                descriptor = -1
                try other.write(bytes, through: name, to: folder.directory, as: target, finish: finish)
            }
        } catch {
            folder.didFail(target)
            if descriptor >= 0 {
                close(descriptor)
            }
            throw error
        }
        // The bytes are at hand here, and the sync thread would have to read them from the file.
        let entry = bytes.withUnsafeBytes { Ledger.Entry(of: $0) }
        let piece = descriptor.openDescriptor.map { SharedDescriptor($0) }
        return folder.didAdd(target, size: Int64(count), descriptor: piece, entry: entry)
    }
}
