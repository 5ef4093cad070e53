import EventLoop
import Glibc
import HTTPMessage
import Origin

/// A receiver that records all its calls.
@LoopActor final class Recorder: TransferReceiver {
    struct Mismatch: Error {}

    private(set) var heads: [OriginHead] = []
    private(set) var bytes: [UInt8] = []
    /// The offsets at which the body started or restarted.
    private(set) var beginnings: [Int64] = []
    private(set) var ends: [Result<Void, OriginError>] = []
    private var waiting: CheckedContinuation<Void, Never>?
    /// Called on each event.
    var react: ((Transfer) -> Void)?
    private var position: Int64 = -1
    var takesSmallParts = false
    /// The numbers of bytes that came at once.
    private(set) var parts: [Int] = []

    /// - Parameter had: bytes received before.
    init(_ had: [UInt8] = []) { bytes = had }

    func transfer(_ transfer: Transfer, received head: OriginHead) {
        heads.append(head)
        react?(transfer)
    }

    func transfer(_ transfer: Transfer, received new: UnsafeRawBufferPointer, at offset: Int64) throws {
        parts.append(new.count)
        if offset != position {
            beginnings.append(offset)
        }
        position = offset + Int64(new.count)
        let known = bytes.dropFirst(Int(offset)).prefix(new.count)
        guard offset <= bytes.count, known.elementsEqual(new.prefix(known.count)) else { throw Mismatch() }
        bytes += new.dropFirst(known.count)
        react?(transfer)
    }

    func transfer(_ transfer: Transfer, ended result: Result<Void, OriginError>) {
        ends.append(result)
        react?(transfer)
        waiting?.resume()
        waiting = nil
    }

    /// Waits for the end and returns its error; nil on success.
    var error: OriginError? {
        get async {
            if ends.isEmpty {
                await withCheckedContinuation { waiting = $0 }
            }
            if case .failure(let error) = ends.first {
                return error
            }
            return nil
        }
    }

    /// True if exactly these bytes were received. (The testing library's own comparison computes a difference in
    /// quadratic time.)
    ///
    /// Memory is compared at once: byte by byte the loop would stand still for a tenth of a second.
    func has(_ expected: some Collection<UInt8>) -> Bool {
        let expected = Array(expected)
        guard bytes.count == expected.count else { return false }
        return memcmp(bytes, expected, expected.count) == 0
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Runs the loop until a condition holds; false if it does not within ten seconds.
@LoopActor func eventually(_ condition: @LoopActor () -> Bool) async -> Bool {
    let end = ContinuousClock.now + .seconds(10)
    while !condition() {
        guard ContinuousClock.now < end else { return false }
        await turn(.milliseconds(1))
    }
    return true
}

/// Returns after a timer has fired.
@LoopActor func turn(_ span: Duration) async {
    var kept: LoopTimerBox?
    await withCheckedContinuation { continuation in
        kept = LoopTimerBox(span) { continuation.resume() }
    }
    _ = kept
}

private final class LoopTimerBox {
    private let timer: LoopTimer
    @LoopActor init(_ span: Duration, _ fire: @escaping @LoopActor () -> Void) {
        timer = LoopTimer(fire)
        timer.schedule(after: span)
    }
}
