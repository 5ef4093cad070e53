import EventLoop
import Glibc
import HTTPServer
import TestSupport

/// A growing body in a file, driven by the test.
@LoopActor final class GrowingFile: GrowingBody {
    private(set) var descriptor: Int32
    private(set) var written: Int64 = 0
    private(set) var fresh: UnsafeRawBufferPointer?
    private(set) var state = GrowingBodyState.open
    private var readers: [ObjectIdentifier: @LoopActor () -> Void] = [:]

    init(path: String) throws {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemCallError("open") }
    }

    isolated deinit { close(descriptor) }

    var readerCount: Int { readers.count }

    func subscribe(_ reader: AnyObject, wake: @escaping @LoopActor () -> Void) {
        readers[ObjectIdentifier(reader)] = wake
    }

    func unsubscribe(_ reader: AnyObject) {
        readers[ObjectIdentifier(reader)] = nil
    }

    func append(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        written += Int64(pwrite(descriptor, bytes, bytes.count, Int(written)))
        wake()
    }

    /// Passes fresh bytes to the readers. With `keep`, the bytes are then written to the file.
    func offer(_ bytes: some Sequence<UInt8>, keep: Bool = true) {
        let bytes = Array(bytes)
        bytes.withUnsafeBytes { buffer in
            fresh = buffer
            wake()
            fresh = nil
        }
        if keep {
            append(bytes)
        }
    }

    func finish(_ state: GrowingBodyState) {
        self.state = state
        wake()
    }

    /// Continues in another file with the same bytes, as when memory replaces a full disk.
    func move(to path: String) throws {
        let next = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard next >= 0 else { throw SystemCallError("open") }
        var offset = 0
        while offset < Int(written) {
            guard sendfile(next, descriptor, &offset, Int(written) - offset) > 0 else {
                throw SystemCallError("sendfile")
            }
        }
        close(descriptor)
        descriptor = next
    }

    private func wake() {
        for wake in readers.values {
            wake()
        }
    }
}
