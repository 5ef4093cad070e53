internal import AccessLog
internal import HTTPMessage
internal import SafeText
internal import WeirAPI

/// The query of an API request. An unknown key is refused, as in a body, because its sender expects an effect.
struct ControlQuery {
    private var values: [String: String] = [:]

    /// Reads a query; `known` are the keys of the route. Throws `.badRequest` also for a repeated key and invalid
    /// encoding.
    init(_ text: String?, knowing known: [String]) throws(APIError) {
        // By bytes: a combining mark behind a "&" makes another character of it.
        for pair in (text ?? "").utf8.split(separator: UInt8(ascii: "&")) {
            let encoded = Substring(pair.prefix { $0 != UInt8(ascii: "=") })
            let rest = Substring(pair.dropFirst(encoded.utf8.count + 1))
            guard let key = PercentEncoding.decode(encoded), let value = PercentEncoding.decode(rest) else {
                throw APIError(.badRequest, "\(encoded)= is not percent-encoded UTF-8")
            }
            guard known.contains(key) else {
                var next = "send no query"
                if !known.isEmpty {
                    next = "leave it out; the keys are: \(known.joined(separator: ", "))"
                }
                throw APIError(.badRequest, "the query has no key \"\(key)\" here", next: next)
            }
            guard values.updateValue(value, forKey: key) == nil else {
                throw APIError(.badRequest, "\(key)= is repeated", next: "leave one of them out")
            }
        }
    }

    /// The value of a key, unchanged; nil if the query lacks the key.
    subscript(key: String) -> String? { values[key] }

    /// A value that must not be empty.
    func word(_ key: String) throws(APIError) -> String? {
        guard let text = values[key] else { return nil }
        guard !text.isEmpty else {
            throw APIError(.badRequest, "\(key)= is empty", next: "leave it out, or give it a value")
        }
        return text
    }

    func count(_ key: String, upTo limit: Int = .max) throws(APIError) -> Int? {
        guard let text = values[key] else { return nil }
        guard text.utf8.allSatisfy(Self.isDigit), let number = Int(text), (1...limit).contains(number) else {
            let range = limit == .max ? "of 1 or more" : "from 1 to \(limit)"
            throw APIError(.badRequest, "\(key)= must be a number \(range), not \"\(text)\"")
        }
        return number
    }

    /// Seconds since 1970, as a number in the form of JSON (RFC 8259 §6).
    func moment(_ key: String) throws(APIError) -> Moment? {
        guard let text = values[key] else { return nil }
        // Double also reads "0x1p3", "infinity" and ".5".
        let isDecimal = text.utf8.allSatisfy { Self.isDigit($0) || "+-.eE".utf8.contains($0) }
        let first = text.utf8.first { $0 != UInt8(ascii: "-") }
        let last = text.utf8.last
        guard isDecimal, let first, let last, Self.isDigit(first), Self.isDigit(last), let number = Double(text),
            number.isFinite
        else { throw APIError(.badRequest, "\(key)= must be a number, not \"\(text)\"") }
        return Moment(clamping: number)
    }

    func flag(_ key: String) throws(APIError) -> Bool? {
        guard let text = values[key] else { return nil }
        guard text == "0" || text == "1" else { throw APIError(.badRequest, "\(key)= must be 0 or 1, not \"\(text)\"") }
        return text == "1"
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
}

extension API.AssetQuery {
    /// Throws `.badRequest` for an invalid value.
    init(_ query: ControlQuery) throws(APIError) {
        self.init()
        limit = try query.count("limit")
        after = query["after"]
        isBrief = try query.flag("brief") ?? false
    }
}

extension LogQuery {
    /// Throws `.badRequest` for an invalid value.
    init(_ query: ControlQuery) throws(APIError) {
        self.init(
            asset: try query.word("asset"), session: try query.word("session"), since: try query.moment("since"))
        limit = try query.count("limit", upTo: 100_000) ?? limit
    }
}
