import CLibcrypto

/// AES-128 in CBC mode, with which HLS encrypts whole segments (RFC 8216 §4.3.2.4).
package enum SegmentCipher {
    /// Encrypts a segment, with the padding that players remove. Returns nil for a key or vector that is not of 16 bytes.
    package static func encrypted(_ bytes: [UInt8], key: [UInt8], vector: [UInt8]) -> [UInt8]? {
        Libcrypto.prepare()
        guard key.count == 16, vector.count == 16, let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        guard EVP_EncryptInit_ex(context, EVP_aes_128_cbc(), nil, key, vector) == 1 else { return nil }
        EVP_CIPHER_CTX_set_padding(context, 0)
        let count = 16 - bytes.count % 16
        let padded = bytes + [UInt8](repeating: UInt8(count), count: count)
        var written: Int32 = 0
        let output = [UInt8](unsafeUninitializedCapacity: padded.count + 16) { buffer, used in
            let isDone = EVP_EncryptUpdate(context, buffer.baseAddress, &written, padded, Int32(padded.count)) == 1
            used = isDone ? Int(written) : 0
        }
        guard output.count == padded.count else { return nil }
        return output
    }

    /// Decrypts a segment. The padding at its end stays. Returns nil for a key or vector that is not of 16 bytes, and for a
    /// length that is no multiple of 16.
    package static func decrypted(_ bytes: [UInt8], key: [UInt8], vector: [UInt8]) -> [UInt8]? {
        Libcrypto.prepare()
        guard key.count == 16, vector.count == 16, bytes.count % 16 == 0, let context = EVP_CIPHER_CTX_new() else {
            return nil
        }
        defer { EVP_CIPHER_CTX_free(context) }
        guard EVP_DecryptInit_ex(context, EVP_aes_128_cbc(), nil, key, vector) == 1 else { return nil }
        EVP_CIPHER_CTX_set_padding(context, 0)
        var count: Int32 = 0
        let output = [UInt8](unsafeUninitializedCapacity: bytes.count + 16) { buffer, used in
            let isDone = EVP_DecryptUpdate(context, buffer.baseAddress, &count, bytes, Int32(bytes.count)) == 1
            used = isDone ? Int(count) : 0
        }
        guard output.count == bytes.count else { return nil }
        return output
    }
}
