package import HTTPMessage

/// One operation of the API: a method on a path, with the types of its request and its reply. Clients call it, and the server
/// registers a handler for it. Each is one entry of ``Endpoints``.
///
/// A `Request` that is Codable is a JSON body; `API.Nothing` is no body, `API.Bytes` an image. A `Reply` that is Codable is JSON;
/// `API.Bytes` is a text or image of its own media type.
package struct Endpoint<Request: Sendable, Reply: Sendable>: Sendable {
    package let line: EndpointLine
    /// The request that an empty body stands for; nil if the body is required.
    package let requestWithoutBody: Request?

    /// - Parameters:
    ///   - path: behind the root of the API; `{name}` stands for one component.
    ///   - query: the keys of the query. All other keys are refused.
    ///   - status: of a success.
    ///   - phones: true if a phone of the network may call it with its token.
    ///   - isLong: true if the client waits without a limit, because the duration cannot be known.
    ///   - hasLongBody: true if the body may be as long as an image or a list of streams.
    ///   - readsHandedInFiles: true if the server reads a file or folder that the user names. The work ends with the request.
    init(
        _ method: HTTPMethod, _ path: String, query: [String] = [], status: Int = 200, phones: Bool = false,
        isLong: Bool = false, hasLongBody: Bool = false, readsHandedInFiles: Bool = false,
        withoutBody: Request? = nil
    ) {
        line = EndpointLine(
            method: method, path: path, query: query, status: status, isForPhones: phones, isLong: isLong,
            hasLongBody: hasLongBody, readsHandedInFiles: readsHandedInFiles)
        requestWithoutBody = withoutBody
    }
}

extension API {
    /// The query string of one key, with its question mark.
    package static func query(_ key: String, _ value: String) -> String { "?\(key)=\(PercentEncoding.encode(value))" }

    /// The absence of a body.
    package struct Nothing: Sendable {
        package init() {}
    }

    /// A body that is not JSON.
    package struct Bytes: Sendable {
        package var bytes: [UInt8]
        package init(_ bytes: [UInt8]) { self.bytes = bytes }
    }
}

/// The facts of an endpoint that do not depend on its types.
package struct EndpointLine: Equatable, Sendable {
    package let method: HTTPMethod
    /// Such as `/assets/{name}/policy`.
    package let path: String
    package let query: [String]
    package let status: Int
    package let isForPhones: Bool
    package let isLong: Bool
    package let hasLongBody: Bool
    package let readsHandedInFiles: Bool

    /// True if the path's first `{…}` is the name of an asset.
    package var namesAsset: Bool { path.hasPrefix("/assets/{") }

    /// Returns the values of the path's `{…}` in decoded components of a path; nil if the path is another one.
    package func items(in components: [String]) -> [String]? {
        let parts = path.dropFirst().split(separator: "/")
        guard parts.count == components.count else { return nil }
        var items: [String] = []
        for (part, component) in zip(parts, components) {
            if part.hasPrefix("{") {
                items.append(component)
            } else if part != component {
                return nil
            }
        }
        return items
    }

    /// The path with values in place of its `{…}`, percent-encoded.
    package func path(with items: [String]) -> String {
        var rest = items[...]
        let parts = path.dropFirst().split(separator: "/").map { part in
            guard part.hasPrefix("{") else { return String(part) }
            let item = rest.popFirst() ?? ""
            return PercentEncoding.encode(item)
        }
        return "/" + parts.joined(separator: "/")
    }

    /// Returns the decoded components of a path of the API, without its root; nil for any other path.
    package static func components(of path: String) -> [String]? {
        let root = API.root.utf8
        // By bytes: a combining mark behind a "/" makes another character of it.
        guard path.utf8.starts(with: Array(root) + [UInt8(ascii: "/")]) else { return nil }
        let rest = path.utf8.dropFirst(root.count + 1)
        let parts = rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let components = parts.compactMap { PercentEncoding.decode(Substring($0)) }
        guard components.count == parts.count, !components.contains("") else { return nil }
        return components
    }
}
