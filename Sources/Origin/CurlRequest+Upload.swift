import CLibcurl
import EventLoop
import Glibc

/// Request bodies and signatures.
extension CurlRequest {
    /// Makes libcurl read the body from its file.
    func setUpload() {
        set(CURLOPT_UPLOAD, 1)
        _ = weir_easy_set_offset(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(outgoing?.size ?? 0))
        let context = Unmanaged.passUnretained(self).toOpaque()
        for option in [CURLOPT_READDATA, CURLOPT_SEEKDATA] { _ = weir_easy_set_pointer(handle, option, context) }
        setReading()
        _ = weir_easy_set_seek(handle) { context, offset, origin in
            guard let context, origin == SEEK_SET else { return CURL_SEEKFUNC_FAIL }
            let request = Unmanaged<CurlRequest>.fromOpaque(context).takeUnretainedValue()
            LoopActor.assumeIsolated { request.uploadPosition = Int64(offset) }
            return CURL_SEEKFUNC_OK
        }
    }

    private func setReading() {
        _ = weir_easy_set_write(handle, CURLOPT_READFUNCTION) { start, size, count, context in
            guard let context, let start else { return Int(CURL_READFUNC_ABORT) }
            let request = Unmanaged<CurlRequest>.fromOpaque(context).takeUnretainedValue()
            // libcurl calls on the loop's thread; the buffer is valid during the call.
            nonisolated(unsafe) let room = UnsafeMutableRawBufferPointer(start: start, count: size * count)
            return LoopActor.assumeIsolated { request.readBody(into: room) }
        }
    }

    private func readBody(into room: UnsafeMutableRawBufferPointer) -> Int {
        guard let count = outgoing?.read(at: uploadPosition, into: room) else { return Int(CURL_READFUNC_ABORT) }
        uploadPosition += Int64(count)
        return count
    }

    /// Body bytes that the peer has received, as far as the system knows.
    var sent: Int64 {
        var waiting: Int32 = 0
        guard descriptor >= 0, ioctl(descriptor, UInt(TIOCOUTQ), &waiting) == 0 else { return uploadPosition }
        return uploadPosition - Int64(waiting)
    }

    /// Makes libcurl sign the request; see `RequestSignature`.
    func sign(with signature: RequestSignature) {
        set(CURLOPT_AWS_SIGV4, signature.scheme)
        set(CURLOPT_USERNAME, signature.accessKey)
        set(CURLOPT_PASSWORD, signature.secretKey)
        if let token = signature.sessionToken { append("x-amz-security-token: \(token)") }
    }
}
