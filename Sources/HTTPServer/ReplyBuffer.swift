import Glibc
import HTTPMessage

/// Memory that replies are put together in, one after another: a head, and a small body behind it, so that both leave
/// in one write. One for the whole server, since nothing stays in it between two replies.
final class ReplyBuffer {
    /// Room for the largest head and a small body.
    static let capacity = 64 * 1024
    /// Bodies up to this size are copied behind their head; larger files go by sendfile.
    static let smallBody = 16 * 1024

    private let base: UnsafeMutableRawPointer
    private(set) var count = 0
    /// Whether something did not fit; what is in the buffer must not be sent then.
    private(set) var hasOverflowed = false

    init() {
        base = .allocate(byteCount: Self.capacity, alignment: 16)
    }

    deinit { base.deallocate() }

    /// What has been put together; valid until the next change.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    func clear() {
        count = 0
        hasOverflowed = false
    }

    func append(_ source: UnsafeRawBufferPointer) {
        guard let start = source.baseAddress, !source.isEmpty else { return }
        guard source.count <= Self.capacity - count else {
            hasOverflowed = true
            return
        }
        (base + count).copyMemory(from: start, byteCount: source.count)
        count += source.count
    }

    func append(_ array: [UInt8]) {
        array.withUnsafeBytes { append($0) }
    }

    func append(_ slice: ArraySlice<UInt8>) {
        slice.withUnsafeBytes { append($0) }
    }

    @inline(__always)
    func append(_ literal: StaticString) {
        append(UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    /// Appends decimal digits.
    func append(number: Int64) {
        append(digitsOf: number) { $0.quotientAndRemainder(dividingBy: 10) }
    }

    /// Appends lower-case hexadecimal digits.
    func append(hexadecimal number: Int64) {
        append(digitsOf: number) { ($0 >> 4, $0 & 15) }
    }

    /// `split` takes the last digit off a number. With the radix known to the compiler it costs no division.
    @inline(__always)
    private func append(digitsOf number: Int64, split: (UInt64) -> (UInt64, UInt64)) {
        guard Self.capacity - count >= 20 else {
            hasOverflowed = true
            return
        }
        var rest = number.magnitude
        var start = 20
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { digits in
            repeat {
                let (more, digit) = split(rest)
                start -= 1
                digits[start] = UInt8(truncatingIfNeeded: digit < 10 ? 0x30 + digit : 0x57 + digit)
                rest = more
            } while rest > 0
            append(UnsafeRawBufferPointer(rebasing: digits[start...]))
        }
    }

    /// Reads `length` bytes of a file at `offset` to the end; false when they do not fit or are not all there.
    func appendFile(_ descriptor: Int32, offset: Int64, length: Int) -> Bool {
        guard length <= Self.capacity - count else { return false }
        let target = count + length
        while count < target {
            let got = pread(descriptor, base + count, target - count, Int(offset) + length - (target - count))
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return false }
            count += got
        }
        return true
    }
}
