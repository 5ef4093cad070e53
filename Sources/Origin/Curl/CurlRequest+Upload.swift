import CLibcurl
import EventLoop
import Glibc

/// Sends the body of a PUT, and observes how much of a request has arrived.
extension CurlRequest {
    func setUpload() {
        set(CURLOPT_UPLOAD, 1)
        _ = weir_easy_set_offset(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(outgoing?.size ?? 0))
        let context = Unmanaged.passUnretained(self).toOpaque()
        for option in [CURLOPT_READDATA, CURLOPT_SEEKDATA] {
            _ = weir_easy_set_pointer(handle, option, context)
        }
        _ = weir_easy_set_write(handle, CURLOPT_READFUNCTION) { start, size, count, context in
            guard let context, let start else { return Int(CURL_READFUNC_ABORT) }
            let request = Unmanaged<CurlRequest>.fromOpaque(context).takeUnretainedValue()
            // libcurl calls on the loop's thread; the buffer is valid during the call.
            nonisolated(unsafe) let room = UnsafeMutableRawBufferPointer(start: start, count: size * count)
            return LoopActor.assumeIsolated { request.readBody(into: room) }
        }
        _ = weir_easy_set_seek(handle) { context, offset, origin in
            guard let context, origin == SEEK_SET else { return CURL_SEEKFUNC_FAIL }
            let request = Unmanaged<CurlRequest>.fromOpaque(context).takeUnretainedValue()
            LoopActor.assumeIsolated { request.uploadPosition = Int64(offset) }
            return CURL_SEEKFUNC_OK
        }
    }

    private func readBody(into room: UnsafeMutableRawBufferPointer) -> Int {
        guard let count = outgoing?.read(at: uploadPosition, into: room) else { return Int(CURL_READFUNC_ABORT) }
        uploadPosition += Int64(count)
        return count
    }

    /// True if the peer's system has received the whole request, as far as is known: libcurl may not report the socket of
    /// a connection that it uses again.
    var isAcknowledged: Bool {
        var waiting: Int32 = 0
        return descriptor < 0 || ioctl(descriptor, UInt(TIOCOUTQ), &waiting) != 0 || waiting == 0
    }

    /// Body bytes that the peer has received, as far as the system knows.
    var sent: Int64 {
        var waiting: Int32 = 0
        guard descriptor >= 0, ioctl(descriptor, UInt(TIOCOUTQ), &waiting) == 0 else { return uploadPosition }
        return uploadPosition - Int64(waiting)
    }
}
