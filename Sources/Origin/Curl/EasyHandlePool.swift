import CLibcurl
import EventLoop

/// A pool of libcurl easy handles. Options that are equal for every request are set once per handle.
/// A handle that is released must carry no option of its request that the next one does not set itself.
@LoopActor final class EasyHandlePool {
    private let configuration: OriginClient.Configuration
    private var idle: [UnsafeMutableRawPointer] = []
    private static let limit = 16
    /// Status lines other than HTTP's that mean 200: those of radio stations. Outlives the handles, which refer to it.
    private let aliases = curl_slist_append(nil, "ICY 200")

    init(_ configuration: OriginClient.Configuration) { self.configuration = configuration }

    isolated deinit {
        idle.forEach { curl_easy_cleanup($0) }
        curl_slist_free_all(aliases)
    }

    /// Returns a prepared handle, to be released or cleaned up by the caller; nil if libcurl has no memory.
    /// - Parameter isFresh: true for one that has served no request: libcurl keeps an origin's challenge with the handle.
    func acquire(isFresh: Bool = false) -> UnsafeMutableRawPointer? {
        if !isFresh, let handle = idle.popLast() {
            return handle
        }
        guard let handle = curl_easy_init() else { return nil }
        prepare(handle)
        return handle
    }

    /// Returns a handle to the pool. The handle has left its multi handle and was used for a GET only.
    func release(_ handle: UnsafeMutableRawPointer) {
        guard idle.count < Self.limit else { return curl_easy_cleanup(handle) }
        _ = weir_easy_set_pointer(handle, CURLOPT_HTTPHEADER, nil)
        _ = weir_easy_set_text(handle, CURLOPT_COOKIE, nil)
        CookieJar.detach(from: handle)
        idle.append(handle)
    }

    /// Disables what libcurl must never do by itself. Netrc, HSTS, Alt-Svc and authentication default to off.
    private func prepare(_ handle: UnsafeMutableRawPointer) {
        func set(_ option: CURLoption, _ value: Int) { _ = weir_easy_set_long(handle, option, value) }
        func set(_ option: CURLoption, _ value: String) { _ = weir_easy_set_text(handle, option, value) }

        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_PATH_AS_IS, 1)
        _ = weir_easy_set_pointer(handle, CURLOPT_HTTP200ALIASES, aliases)
        set(CURLOPT_NOSIGNAL, 1)

        // Without this, libcurl waits for an abandoned DNS lookup, ten seconds and more without a network, and blocks
        // the loop meanwhile. With it, the lookup's thread ends by itself.
        set(CURLOPT_QUICK_EXIT, 1)

        // libcurl caches the parsed CA bundle only without a CA directory. Parsing takes tens of milliseconds per
        // connection. Debian's bundle contains everything that its directory does.
        _ = weir_easy_set_text(handle, CURLOPT_CAPATH, nil)
        _ = weir_easy_set_text(handle, CURLOPT_PROXY_CAPATH, nil)

        // libcurl would read the environment by itself. `ProxyRules` decides instead, and `ConnectionPlan` sets a proxy.
        set(CURLOPT_PROXY, "")
        set(CURLOPT_NOPROXY, "")
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)

        // Earlier versions are broken (RFC 8996).
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let authorities = configuration.authorities {
            set(CURLOPT_CAINFO, authorities)
            set(CURLOPT_PROXY_CAINFO, authorities)
        }

        set(CURLOPT_USERAGENT, configuration.userAgent)
        CurlRequest.setFunctions(of: handle)
    }
}
