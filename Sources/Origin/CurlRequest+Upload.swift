import CLibcurl
import EventLoop
import Glibc

/// Bodies that go out, and signatures.
extension CurlRequest {
    /// Lets libcurl read the body from its file.
    func setUpload() {
        set(CURLOPT_UPLOAD, 1)
        _ = weir_easy_set_offset(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(outgoing?.size ?? 0))
        let context = Unmanaged.passUnretained(self).toOpaque()
        for option in [CURLOPT_READDATA, CURLOPT_SEEKDATA] { _ = weir_easy_set_pointer(handle, option, context) }
        setReading()
        _ = weir_easy_set_seek(handle) { context, offset, origin in
            guard let context, origin == SEEK_SET else { return CURL_SEEKFUNC_FAIL }
            let request = Unmanaged<CurlRequest>.fromOpaque(context).takeUnretainedValue()
            LoopActor.assumeIsolated { request.taken = Int64(offset) }
            return CURL_SEEKFUNC_OK
        }
    }

    private func setReading() {
        _ = weir_easy_set_write(handle, CURLOPT_READFUNCTION) { start, size, count, context in
            guard let context, let start else { return Int(CURL_READFUNC_ABORT) }
            let request = Unmanaged<CurlRequest>.fromOpaque(context).takeUnretainedValue()
            // libcurl calls on the loop's thread, and lends this for the call.
            nonisolated(unsafe) let room = UnsafeMutableRawBufferPointer(start: start, count: size * count)
            return LoopActor.assumeIsolated { request.give(room) }
        }
    }

    private func give(_ room: UnsafeMutableRawBufferPointer) -> Int {
        guard let count = outgoing?.read(at: taken, into: room) else { return Int(CURL_READFUNC_ABORT) }
        taken += Int64(count)
        return count
    }

    /// How many bytes of the body the peer has taken, as far as the system knows.
    var sent: Int64 {
        var waiting: Int32 = 0
        guard descriptor >= 0, ioctl(descriptor, UInt(TIOCOUTQ), &waiting) == 0 else { return taken }
        return taken - Int64(waiting)
    }

    /// Has libcurl sign the request: see `RequestSignature`.
    func sign(with signature: RequestSignature) {
        set(CURLOPT_AWS_SIGV4, signature.scheme)
        set(CURLOPT_USERNAME, signature.accessKey)
        set(CURLOPT_PASSWORD, signature.secretKey)
        if let token = signature.sessionToken { append("x-amz-security-token: \(token)") }
    }
}
