import EventLoop
import Fetching
import Glibc
import HTTPMessage
import HTTPServer
import Store

/// The body of a large stored piece, whose blocks are verified just ahead of the bytes that are sent. A damaged block ends the
/// reply in front of it.
@LoopActor final class VerifiedBody: GrowingBody {
    private let file: OwnedDescriptor
    private let name: String
    private let folder: PieceFolder
    private let identity: FileIdentity
    private var size: Int64 { identity.size }
    /// End of the verified blocks, which begin with the one of the first wanted byte.
    private(set) var written: Int64
    private(set) var state = GrowingBodyState.open
    private var next: Int
    /// End of the last wanted block.
    private let end: Int64
    /// An upper bound of what is sent.
    private var position: Int64
    private static let step: Int64 = 1 << 20
    private static let ahead: Int64 = 2 * Ledger.Entry.blockSize
    private var isVerifying = false
    private var readers: [ObjectIdentifier: @LoopActor () -> Void] = [:]
    /// Of the open file, whatever becomes of the piece.
    private let digests: [Digest]

    /// - Parameters:
    ///   - digests: those of the file's blocks.
    ///   - range: the wanted bytes.
    init(
        _ file: consuming OwnedDescriptor, _ identity: FileIdentity, named name: String, in folder: PieceFolder,
        digests: [Digest], range: Range<Int64>
    ) {
        self.file = file
        self.digests = digests
        self.name = name
        self.folder = folder
        self.identity = identity
        next = Int(range.lowerBound / Ledger.Entry.blockSize)
        written = Int64(next) * Ledger.Entry.blockSize
        end = range.upperBound
        position = range.lowerBound
        verifyNext()
    }

    /// Read once for each mebibyte or less that is sent: it shows how far the client is.
    var descriptor: Int32 {
        position += Self.step
        verifyNext()
        return file.rawValue
    }

    var fresh: UnsafeRawBufferPointer? { nil }

    /// Verifies the next blocks, as far as they are wanted and not far ahead of what is sent: bytes that are read too early
    /// have left the page cache before they are sent.
    private func verifyNext() {
        while state == .open, !isVerifying, written - position < Self.ahead {
            if folder.isSound(block: next, of: name, identity) {
                advance()
            } else if digests.indices.contains(next) {
                isVerifying = true
                folder.verify(block: next, of: name, in: file.rawValue, identity, digest: digests[next]) { [self] in
                    finish($0)
                }
            } else {
                state = .failed
            }
        }
    }

    private func finish(_ isSound: Bool) {
        isVerifying = false
        if isSound {
            advance()
        } else {
            state = .failed
        }
        verifyNext()
        for wake in readers.values {
            wake()
        }
    }

    private func advance() {
        next += 1
        written = min(size, Int64(next) * Ledger.Entry.blockSize)
        // The rest is not sent.
        if written >= end {
            written = size
            state = .complete
        }
    }

    func subscribe(_ reader: AnyObject, wake: @escaping @LoopActor () -> Void) {
        readers[ObjectIdentifier(reader)] = wake
    }

    func unsubscribe(_ reader: AnyObject) { readers[ObjectIdentifier(reader)] = nil }
}
