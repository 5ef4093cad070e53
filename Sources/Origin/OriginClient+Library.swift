internal import CLibcurl

extension OriginClient {
    /// The libcurl that this process has.
    public struct Library: Sendable {
        /// Its version, and that of its TLS: `7.88.1 (OpenSSL/3.0.15)`.
        public let version: String
        /// Whether it speaks https.
        public let hasTLS: Bool
        /// Whether it looks names up without keeping others waiting.
        public let isAsynchronous: Bool
    }

    /// The libcurl that this process has.
    public nonisolated static var library: Library {
        guard let information = curl_version_info(weir_curl_version_now)?.pointee else {
            return Library(version: "unknown", hasTLS: false, isAsynchronous: false)
        }
        let features = Int(information.features)
        let tls = information.ssl_version.map { " (\(String(cString: $0)))" } ?? ""
        return Library(
            version: String(cString: information.version) + tls, hasTLS: features & Int(CURL_VERSION_SSL) != 0,
            isAsynchronous: features & Int(CURL_VERSION_ASYNCHDNS) != 0)
    }
}
