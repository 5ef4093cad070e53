import CLibcrypto
import Glibc

/// A SHA-256 (FIPS 180-4).
public struct Digest: Hashable, Sendable, CustomStringConvertible {
    private let words: SIMD4<UInt64>

    /// Computes the digest of bytes in memory.
    public init(of bytes: UnsafeRawBufferPointer) {
        var state = DigestState()
        state.add(bytes)
        self = state.digest
    }

    /// Computes a whole file's digest, wherever its offset is. `wasRead` is called with the byte count of each block.
    public init(
        of descriptor: Int32, path: String, wasRead: (Int) throws(StoreError) -> Void = { _ in }
    ) throws(StoreError) {
        var state = DigestState()
        try Self.read(descriptor, path: path) { bytes throws(StoreError) in
            state.add(bytes)
            try wasRead(bytes.count)
        }
        self = state.digest
    }

    /// Passes a file's bytes up to `end` or to its own, wherever its offset is.
    static func read(
        _ descriptor: Int32, to end: Int64 = .max, path: String,
        body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) {
        let buffer = makeBuffer()
        defer { buffer.deallocate() }
        var offset: off_t = 0
        while Int64(offset) < end {
            let length = Int(min(Int64(buffer.count), end - Int64(offset)))
            let count = pread(descriptor, buffer.baseAddress, length, offset)
            if count < 0, errno == EINTR {
                continue
            }
            guard count >= 0 else { throw StoreError(path: path) }
            guard count > 0 else { return }
            offset += off_t(count)
            try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// Computes the digest of a range of a file; nil if it cannot be read, or the file ends before it.
    init?(of descriptor: Int32, in range: Range<Int64>) {
        var state = DigestState()
        let buffer = Self.makeBuffer()
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let length = Int(min(Int64(buffer.count), range.upperBound - offset))
            let count = pread(descriptor, buffer.baseAddress, length, off_t(offset))
            if count < 0, errno == EINTR {
                continue
            }
            guard count > 0 else { return nil }
            state.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
        }
        self = state.digest
    }

    /// Not filled with zeros, which takes longer than the digest of a small file.
    private static func makeBuffer() -> UnsafeMutableRawBufferPointer {
        .allocate(byteCount: 1 << 18, alignment: 16)
    }

    fileprivate init(words: SIMD4<UInt64>) { self.words = words }

    /// Zeros, which no known content has as its digest.
    static let ofNothing = Digest(words: SIMD4())

    static func ^ (left: Digest, right: Digest) -> Digest { Digest(words: left.words ^ right.words) }

    /// Parses 64 lowercase hexadecimal digits, as in `description`; nil for anything else.
    public init?(hexadecimal digits: some Collection<UInt8>) {
        guard digits.count == 64 else { return nil }
        var words = SIMD4<UInt64>()
        for (index, digit) in digits.enumerated() {
            guard let value = Self.value(of: digit) else { return nil }
            words[index / 16] = words[index / 16] << 4 | UInt64(value)
        }
        self.words = words
    }

    /// The digit of a value below 16.
    private static func digit(_ value: UInt8) -> UInt8 {
        guard value > 9 else { return UInt8(ascii: "0") + value }
        return UInt8(ascii: "a") + value - 10
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// 64 lowercase hexadecimal digits.
    public var description: String { String(decoding: hexadecimal, as: UTF8.self) }

    /// The digits of `description` in ASCII.
    var hexadecimal: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 64) { digits, count in
            for index in 0..<4 {
                var word = words[index]
                for offset in 0..<16 {
                    digits[index * 16 + offset] = Self.digit(UInt8(word >> 60))
                    word <<= 4
                }
            }
            count = 64
        }
    }
}

/// A SHA-256 computation in progress. Owns libcrypto's context: EVP_DigestInit(3).
struct DigestState: ~Copyable {
    private let context: OpaquePointer

    init() {
        // Fails only without memory for a few hundred bytes, as a Swift array would.
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, Libcrypto.sha256, nil) == 1 else {
            preconditionFailure("libcrypto has no SHA-256")
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }
    mutating func add(_ bytes: UnsafeRawBufferPointer) { EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) }

    /// The digest of all appended bytes. Read it once.
    var digest: Digest {
        var words = SIMD4<UInt64>()
        withUnsafeMutableBytes(of: &words) { bytes in
            _ = EVP_DigestFinal_ex(context, bytes.bindMemory(to: UInt8.self).baseAddress, nil)
        }
        for index in 0..<4 {
            words[index] = UInt64(bigEndian: words[index])
        }
        return Digest(words: words)
    }
}

/// libcrypto's state in this process.
enum Libcrypto {
    private static let isReady = weir_crypto_init() == 1

    /// SHA-256, looked up once: libcrypto looks the one of EVP_sha256() up for each digest, which takes longer than the digest of a
    /// kilobyte.
    nonisolated(unsafe) static let sha256: OpaquePointer? = {
        prepare()
        return EVP_MD_fetch(nil, "SHA256", nil)
    }()

    /// Makes libcrypto usable until the process has ended. Call it before each other use.
    static func prepare() { precondition(isReady, "libcrypto cannot be initialized") }
}
