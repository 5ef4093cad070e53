import Foundation

/// Gives out tokens in the URIs of playlists, and honours them for so many seconds or requests.
struct TokenSigner {
    private enum Validity {
        /// Not used yet: its time begins with the first request.
        case unused(Duration)
        case until(ContinuousClock.Instant)
        case requests(Int)
    }

    private let rule: OriginRule.Signature
    private var issued = 0
    private var tokens: [String: Validity] = [:]

    init(_ rule: OriginRule.Signature) {
        self.rule = rule
    }

    /// True if a request's target has a valid token. Counts the request.
    mutating func admits(target: String) -> Bool {
        let query = target.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        let field = query.split(separator: "&").first { $0.hasPrefix("token=") }
        let token = field.map { String($0.dropFirst("token=".count)) } ?? ""

        switch tokens[token] {
        case .unused(let life):
            tokens[token] = .until(.now + life)
            return true
        case .until(let end):
            return ContinuousClock.now < end
        case .requests(let left):
            guard left > 0 else { return false }
            tokens[token] = .requests(left - 1)
            return true
        case nil:
            return false
        }
    }

    /// Returns a playlist's text in which every URI has one new token.
    mutating func sign(_ playlist: String) -> String {
        let token = issue()
        let lines = playlist.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            if line.hasPrefix("#") {
                return signAttributes(of: String(line), token: token)
            }
            let isBlank = line.allSatisfy(\.isWhitespace)
            return isBlank ? String(line) : sign(uri: String(line), token: token)
        }
        return lines.joined(separator: "\n")
    }

    private mutating func issue() -> String {
        issued += 1
        let token = "t\(issued)"
        tokens[token] = validity
        return token
    }

    private var validity: Validity {
        guard let seconds = rule.seconds else { return .requests(rule.requests ?? 0) }
        let life = Duration.seconds(seconds)
        return rule.beginsWithUse == true ? .unused(life) : .until(.now + life)
    }

    private func sign(uri: String, token: String) -> String {
        let separator = uri.contains("?") ? "&" : "?"
        return uri + separator + "token=" + token
    }

    private func signAttributes(of line: String, token: String) -> String {
        let name = "URI=\""
        let parts = line.components(separatedBy: name)
        let signed = parts.dropFirst().map { part in
            let uri = String(part.prefix { $0 != "\"" })
            return sign(uri: uri, token: token) + part.dropFirst(uri.count)
        }
        return ([parts[0]] + signed).joined(separator: name)
    }
}
