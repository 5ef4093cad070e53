public import HTTPMessage

/// The user's choice for requests that may go through a proxy.
public enum ProxyChoice: Hashable, Sendable, CustomStringConvertible {
    /// No proxy, whatever the environment names.
    case direct
    /// The named proxy.
    case proxy(ProxyURL)

    /// Parses `direct` or a proxy.
    public init(_ text: String) throws(RouteRefusal) {
        if text.lowercased() == "direct" {
            self = .direct
            return
        }
        do throws(ProxyURL.Refusal) {
            self = .proxy(try ProxyURL(text))
        } catch {
            throw RouteRefusal(error.description)
        }
    }

    /// The proxy; nil for none.
    var proxy: ProxyURL? {
        guard case .proxy(let proxy) = self else { return nil }
        return proxy
    }

    /// Without credentials.
    public var description: String {
        guard let proxy else { return "direct" }
        return "\(proxy)"
    }
    /// The text for `init(_:)`. Secret.
    public var text: String { proxy?.text ?? "direct" }
}

/// Chooses the proxy of each request, by the configuration and by the variables of the environment that curl reads.
public struct ProxyRules: Hashable, Sendable {
    private var http: ProxyURL?
    private var https: ProxyURL?
    private var exceptions: [AllowedHost] = []
    private var exceptsAll = false

    /// No proxy.
    public init() {}

    /// - Parameter choice: replaces the environment's proxies. `no_proxy` still excepts hosts, as for curl's `--proxy`.
    /// - Throws: `RouteRefusal` with the name of the variable.
    public init(_ choice: ProxyChoice?, environment: [String: String]) throws(RouteRefusal) {
        if let choice {
            http = choice.proxy
            https = choice.proxy
        } else {
            let all = try Self.proxy(["all_proxy", "ALL_PROXY"], environment)
            // Not HTTP_PROXY: in a CGI program that is a header field of the client (httpoxy), and curl ignores it.
            http = try Self.proxy(["http_proxy"], environment) ?? all
            https = try Self.proxy(["https_proxy", "HTTPS_PROXY"], environment) ?? all
        }
        let list = environment["no_proxy"] ?? environment["NO_PROXY", default: ""]
        for word in list.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }).prefix(Self.maximumExceptions)
        {
            if word == "*" {
                exceptsAll = true
            }
            // curl ignores what it cannot read. A name stands for the names below it too.
            if let exception = try? AllowedHost(String(word), coversSubdomains: true) {
                exceptions.append(exception)
            }
        }
    }

    private static let maximumExceptions = 1000

    private static func proxy(_ names: [String], _ environment: [String: String]) throws(RouteRefusal) -> ProxyURL? {
        for name in names {
            guard let text = environment[name], !text.isEmpty else { continue }
            do throws(ProxyURL.Refusal) {
                return try ProxyURL(text)
            } catch {
                throw RouteRefusal("\(name): \(error)", variable: name)
            }
        }
        return nil
    }

    /// The proxy of a request; nil for none. `choice` is the asset's own.
    func proxy(for url: WebURL, choice: ProxyChoice?) -> ProxyURL? {
        var configured = https
        if url.scheme == .http {
            configured = http
        }
        guard let proxy = choice.map(\.proxy) ?? configured else { return nil }
        // A name for this machine would mean the proxy's machine there.
        guard !HostClass.isLoopback(url.host) else { return nil }
        let address = SocketAddress(literal: url.host, port: url.port)
        let isExcepted =
            exceptsAll || exceptions.contains { $0.matches(host: url.host, port: url.port, address: address) }
        guard !isExcepted else { return nil }
        return proxy
    }

    /// The proxies in words, without credentials; nil if there are none.
    public var summary: String? {
        let named = [http, https].compactMap(\.self)
        guard !named.isEmpty, !exceptsAll else { return nil }
        if http == https, let http {
            return Self.summary(of: http)
        }
        let parts = [("http", http), ("https", https)].compactMap { name, proxy -> String? in
            guard let proxy else { return nil }
            return "\(name) by \(Self.summary(of: proxy))"
        }
        return parts.joined(separator: ", ")
    }

    private static func summary(of proxy: ProxyURL) -> String {
        guard proxy.hasCredentials else { return "\(proxy)" }
        return "\(proxy) with credentials"
    }
}

/// The reason why a setting of the way to the origin is refused, as a sentence without secrets.
public struct RouteRefusal: Error, Equatable, CustomStringConvertible {
    /// The sentence.
    public let description: String
    /// The variable of the environment that holds the setting; nil for others.
    public let variable: String?

    init(_ description: String, variable: String? = nil) {
        self.description = description
        self.variable = variable
    }
}
