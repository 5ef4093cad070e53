import CLibcrypto

/// AES-128 in CBC mode, with which HLS encrypts whole segments (RFC 8216 §4.3.2.4).
package enum SegmentCipher {
    /// The values of libcrypto's parameter.
    private enum Direction: Int32 {
        case decryption = 0
        case encryption = 1
    }

    /// Encrypts a segment, with the padding that players remove. Returns nil for a key or vector that is not of 16 bytes.
    package static func encrypted(_ bytes: [UInt8], key: [UInt8], vector: [UInt8]) -> [UInt8]? {
        let count = blockSize - bytes.count % blockSize
        let padding = [UInt8](repeating: UInt8(count), count: count)
        return run(.encryption, on: bytes + padding, key: key, vector: vector)
    }

    /// Decrypts a segment. The padding at its end stays. Returns nil for a key or vector that is not of 16 bytes, and for a
    /// length that is no multiple of 16.
    package static func decrypted(_ bytes: [UInt8], key: [UInt8], vector: [UInt8]) -> [UInt8]? {
        run(.decryption, on: bytes, key: key, vector: vector)
    }

    private static let blockSize = 16

    private static func run(
        _ direction: Direction, on blocks: [UInt8], key: [UInt8], vector: [UInt8]
    ) -> [UInt8]? {
        Libcrypto.prepare()
        guard key.count == blockSize, vector.count == blockSize, blocks.count % blockSize == 0,
            let context = EVP_CIPHER_CTX_new()
        else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        guard EVP_CipherInit_ex(context, EVP_aes_128_cbc(), nil, key, vector, direction.rawValue) == 1 else {
            return nil
        }
        // Padding is the caller's.
        EVP_CIPHER_CTX_set_padding(context, 0)

        var written: Int32 = 0
        let output = [UInt8](unsafeUninitializedCapacity: blocks.count + blockSize) { buffer, used in
            let isDone = EVP_CipherUpdate(context, buffer.baseAddress, &written, blocks, Int32(blocks.count)) == 1
            used = isDone ? Int(written) : 0
        }
        guard output.count == blocks.count else { return nil }
        return output
    }
}
