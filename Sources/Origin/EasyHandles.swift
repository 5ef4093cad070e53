import CLibcurl
import EventLoop

/// libcurl's easy handles, made once and used again: what is the same for every request is set when one is made.
///
/// A handle that comes back must carry nothing of its last request that the next would not set itself.
@LoopActor final class EasyHandles {
    private let configuration: OriginClient.Configuration
    private var idle: [UnsafeMutableRawPointer] = []

    /// Most handles that wait.
    private static let limit = 16

    init(_ configuration: OriginClient.Configuration) { self.configuration = configuration }

    isolated deinit { idle.forEach { curl_easy_cleanup($0) } }

    /// A handle that is ready for a request, to be given back or cleaned up; nil when libcurl has no memory.
    func take() -> UnsafeMutableRawPointer? {
        if let handle = idle.popLast() { return handle }
        guard let handle = curl_easy_init() else { return nil }
        prepare(handle)
        return handle
    }

    /// Takes back a handle that is off the wire, and that had nothing but a GET.
    func give(_ handle: UnsafeMutableRawPointer) {
        guard idle.count < Self.limit else { return curl_easy_cleanup(handle) }
        _ = weir_easy_set_pointer(handle, CURLOPT_HTTPHEADER, nil)
        idle.append(handle)
    }

    /// What libcurl must never do by itself stands here. Cookies, netrc, HSTS, Alt-Svc and authentication are off
    /// unless asked for.
    private func prepare(_ handle: UnsafeMutableRawPointer) {
        func set(_ option: CURLoption, _ value: Int) { _ = weir_easy_set_long(handle, option, value) }
        func set(_ option: CURLoption, _ value: String) { _ = weir_easy_set_text(handle, option, value) }
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_NOSIGNAL, 1)
        // Without this a lookup that is given up is waited for, up to ten seconds and more where the network is gone,
        // and the whole loop with it. Its thread is left to end by itself.
        set(CURLOPT_QUICK_EXIT, 1)
        // libcurl keeps the parsed bundle of authorities only where there is no folder of them besides; parsing it anew
        // takes tens of milliseconds for each connection. Debian's bundle has all that the folder has.
        _ = weir_easy_set_text(handle, CURLOPT_CAPATH, nil)
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        // A proxy would look names up itself, and so undo the guard on addresses: the environment's is not used.
        set(CURLOPT_PROXY, "")
        set(CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(configuration.connectLimit / .milliseconds(1))))
        set(CURLOPT_USERAGENT, configuration.userAgent)
        CurlRequest.setFunctions(of: handle)
    }
}
