public import HTTPMessage

/// The way to the origin of one asset, as the user set it: the proxy, the private hosts, and TLS.
public struct OriginRoute: Hashable, Sendable, Codable {
    /// Replaces the configuration's proxy; nil for that.
    public var proxy: ProxyChoice?
    /// Hosts that may be private, besides those of the configuration and of the URL.
    public var allowedHosts: [AllowedHost] = []
    /// True if certificates are not verified.
    public var isInsecure = false
    /// The path of a file with a client certificate, and perhaps its key.
    public var certificate: String?
    /// The path of the certificate's key; nil if it is in the same file.
    public var key: String?
    /// The hosts that the certificate is shown to, besides the origin of the asset's URL.
    public var certificateHosts: [FieldHost] = []
    /// The class of the first address to which the host of the asset's URL led; nil if none is known. Not a setting.
    public var firstClass: HostClass?

    /// The configuration's way.
    public init() {}

    private enum CodingKeys: String, CodingKey {
        case proxy, allowedHosts, isInsecure, certificate, key, certificateHosts, firstClass
    }

    /// Reads a record. A setting that this version cannot read is left out.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        proxy = try values.decodeIfPresent(String.self, forKey: .proxy).flatMap { try? ProxyChoice($0) }
        let hosts = try values.decodeIfPresent([String].self, forKey: .allowedHosts) ?? []
        allowedHosts = hosts.compactMap { try? AllowedHost($0) }
        isInsecure = try values.decodeIfPresent(Bool.self, forKey: .isInsecure) ?? false
        certificate = try values.decodeIfPresent(String.self, forKey: .certificate)
        key = try values.decodeIfPresent(String.self, forKey: .key)
        let certificateHosts = try values.decodeIfPresent([String].self, forKey: .certificateHosts)
        if let certificateHosts {
            self.certificateHosts = certificateHosts.compactMap { FieldHost($0) }
        } else if certificate != nil {
            // By the rule of earlier records, a certificate was shown to every host that the playlists named.
            self.certificateHosts = [.everyHost]
        }
        firstClass = try values.decodeIfPresent(String.self, forKey: .firstClass).flatMap(HostClass.init)
    }

    /// Writes a record, which is secret.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(proxy?.text, forKey: .proxy)
        if !allowedHosts.isEmpty {
            try values.encode(allowedHosts.map(\.description), forKey: .allowedHosts)
        }
        if isInsecure {
            try values.encode(true, forKey: .isInsecure)
        }
        try values.encodeIfPresent(certificate, forKey: .certificate)
        try values.encodeIfPresent(key, forKey: .key)
        if certificate != nil {
            try values.encode(certificateHosts.map(\.description), forKey: .certificateHosts)
        }
        try values.encodeIfPresent(firstClass?.rawValue, forKey: .firstClass)
    }
}

extension OriginRoute {
    /// The settings that still apply once somebody else than the user has chosen another origin for the asset, and those that do not.
    ///
    /// The user trusted the former origin: only there are certificates not verified, the client certificate shown, and private hosts
    /// allowed, unless the user named the new host for that. A proxy stays, because it hides the user from every origin; the permission to go
    /// without one does not, for the same reason.
    public func split(forMoveTo url: WebURL) -> (kept: OriginRoute, lost: OriginRoute) {
        var kept = OriginRoute()
        var lost = self
        lost.firstClass = nil
        if case .proxy? = proxy {
            kept.proxy = proxy
            lost.proxy = nil
        }
        let address = SocketAddress(literal: url.host, port: url.port)
        kept.allowedHosts = allowedHosts.filter { $0.matches(host: url.host, port: url.port, address: address) }
        lost.allowedHosts.removeAll { kept.allowedHosts.contains($0) }
        let isForHost = certificateHosts.contains { $0.matches(url) }
        if isForHost {
            kept.certificate = certificate
            kept.key = key
            kept.certificateHosts = certificateHosts
            lost.certificate = nil
            lost.key = nil
            lost.certificateHosts = []
        }
        return (kept, lost)
    }
}

extension OriginRoute: CustomStringConvertible {
    /// The settings in words, without credentials; empty for none.
    public var description: String {
        var parts: [String] = []
        if let proxy {
            parts.append("proxy \(proxy)")
        }
        if isInsecure {
            parts.append("certificates are not verified")
        }
        if let certificate {
            var part = "client certificate \(certificate)"
            if !certificateHosts.isEmpty {
                part += " also for \(certificateHosts.map(\.description).joined(separator: ", "))"
            }
            parts.append(part)
        }
        if !allowedHosts.isEmpty {
            parts.append("allowed hosts \(allowedHosts.map(\.description).joined(separator: ", "))")
        }
        return parts.joined(separator: "; ")
    }
}
