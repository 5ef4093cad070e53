import HTTPMessage
import Origin
import Sessions

/// The header fields of a player's request for an entry that count as given by the user for that asset.
///
/// A player is told Referer, User-Agent or a password for the origin's URL, and repeats them at Weir's. A web page in a
/// browser must not be able to do so: it would send its own fields to an origin in the user's name.
struct PlayerFields: Equatable {
    /// Referer, Origin, Authorization, Cookie, and a User-Agent that is no stock one.
    private(set) var lines: [FieldLine] = []
    /// The User-Agent, which requests have as long as no other player plays the asset; nil without one.
    private(set) var agent: FieldLine?
    /// The Authorization field of the URL's user name and password, for an asset that has none.
    var password: FieldLine?
    /// True for another user of this machine, who may change no asset that is known.
    var isOtherUsers = false

    /// - Parameters:
    ///   - isOwners: true if the request is from a process of the daemon's user on this machine.
    ///   - secrets: Weir's own tokens, which belong to no origin.
    init(of head: RequestHead, isOwners: @autoclosure () -> Bool, secrets: [String]) {
        let agent = head.text(of: .userAgent)
        let player = KnownPlayer(client: agent)
        // Printable only: the value ends in another request's head.
        self.agent = agent.flatMap { Self.line(.userAgent, $0) }
        guard !Self.ofBrowsers.contains(where: head.contains), !player.isBrowser, !head.isFromOwnPage else { return }
        var names = [FieldName("Referer"), .origin, .authorization, FieldName("Cookie")]
        if !player.hasStockName {
            names.append(.userAgent)
        }
        lines = names.compactMap { name in
            guard let value = head.onlyValue(of: name).map({ String(decoding: $0, as: UTF8.self) }) else { return nil }
            if secrets.contains(where: value.contains) {
                return nil
            }
            return Self.line(name, value)
        }
        if !lines.isEmpty, !isOwners() {
            lines = []
        }
    }

    /// The fields of the asset with those of the player.
    func added(to fields: UserFields) -> UserFields {
        var fields = fields
        if let password, let withPassword = fields.adding(password) {
            fields = withPassword
        }
        if !lines.isEmpty {
            fields = fields.adding(fieldsOfPlayer: lines)
        }
        if let agent {
            fields.playerAgent = agent
        }
        return fields
    }

    /// Fetch Metadata: pages cannot leave these out or forge them.
    private static var ofBrowsers: [FieldName] {
        [
            FieldName("Sec-Fetch-Site"), FieldName("Sec-Fetch-Mode"), FieldName("Sec-Fetch-Dest"),
            FieldName("Sec-Fetch-User"),
        ]
    }

    private static func line(_ name: FieldName, _ value: String) -> FieldLine? {
        guard !value.isEmpty, value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return FieldLine("\(name): \(value)".utf8)
    }
}

extension RequestHead {
    fileprivate func text(of name: FieldName) -> String? {
        onlyValue(of: name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// True if the request names a page of this machine as its source.
    fileprivate var isFromOwnPage: Bool {
        let texts = [text(of: .origin), text(of: FieldName("Referer"))].compactMap(\.self)
        let pages = texts.compactMap { try? WebURL($0) }
        return pages.contains { url in
            ["localhost", "127.0.0.1", "::1"].contains(url.host)
                || "\(url.host):\(url.port)".utf8.elementsEqual(hostBytes) || url.host.utf8.elementsEqual(hostBytes)
        }
    }
}
