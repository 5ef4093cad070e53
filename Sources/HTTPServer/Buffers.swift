import Glibc

/// A buffer that all sockets are read into in turn. A connection must copy the bytes that it does not consume at once.
final class ReadBuffer {
    /// Most bytes per read.
    static let capacity = 64 * 1024

    enum Outcome {
        case bytes(Int)
        case nothing, end, failure
    }

    private let base: UnsafeMutableRawPointer
    init() { base = .allocate(byteCount: Self.capacity, alignment: 16) }
    deinit { base.deallocate() }
    /// The first `count` bytes; valid until the next read.
    func bytes(_ count: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    func read(_ descriptor: Int32) -> Outcome {
        let count = recv(descriptor, base, Self.capacity, 0)
        if count > 0 {
            return .bytes(count)
        }
        if count == 0 {
            return .end
        }
        guard errno == EAGAIN || errno == EINTR else { return .failure }
        return .nothing
    }
}

/// A buffer that replies are composed in: a head followed by a small body, so that both are sent in one write. The
/// whole server shares one, since it holds nothing between replies.
final class ReplyBuffer {
    static let capacity = 64 * 1024
    /// Bodies up to this size are copied after their head; larger files use sendfile.
    static let smallBody = 16 * 1024
    private let base: UnsafeMutableRawPointer
    private(set) var count = 0
    /// True if an append did not fit. The content must not be sent then.
    private(set) var hasOverflowed = false
    init() { base = .allocate(byteCount: Self.capacity, alignment: 16) }
    deinit { base.deallocate() }
    /// The content; valid until the next change.
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

    func append(_ array: [UInt8]) { array.withUnsafeBytes { append($0) } }
    func append(_ slice: ArraySlice<UInt8>) { slice.withUnsafeBytes { append($0) } }

    @inline(__always)
    func append(_ literal: StaticString) {
        append(UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    func append(number: Int64) { append(digitsOf: number) { $0.quotientAndRemainder(dividingBy: 10) } }
    func append(hexadecimal number: Int64) { append(digitsOf: number) { ($0 >> 4, $0 & 15) } }

    /// `split` removes the last digit of a number. With the radix known to the compiler it needs no division.
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
                var code = 0x30 + digit
                if digit >= 10 {
                    code = 0x57 + digit
                }
                digits[start] = UInt8(truncatingIfNeeded: code)
                rest = more
            } while rest > 0
            append(UnsafeRawBufferPointer(rebasing: digits[start...]))
        }
    }

    /// Appends `length` bytes of a file from `offset`; false if they do not fit or the file is too short.
    func appendFile(_ descriptor: Int32, offset: Int64, length: Int) -> Bool {
        guard length <= Self.capacity - count else { return false }
        let target = count + length
        while count < target {
            let got = pread(descriptor, base + count, target - count, Int(offset) + length - (target - count))
            if got < 0, errno == EINTR {
                continue
            }
            guard got > 0 else { return false }
            count += got
        }
        return true
    }
}
