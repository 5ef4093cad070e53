public import SafeText

/// Common Media Client Data of a request (CTA-5004, version 2 is CTA-5004-B): the keys that Weir uses.
///
/// Players send it in the fields CMCD-Request, CMCD-Object, CMCD-Status and CMCD-Session, or percent-encoded in the
/// query as `CMCD=…`. In the event mode of version 2 they post lines of it. Of an inner list, which has a number for each kind
/// of media (`bl=(21300;v 19000;a)`), the smallest buffer and the largest counter count. Unreadable values are skipped and large numbers are clamped, since any client can send anything.
public struct CMCD: Sendable, Hashable {
    /// `bl`: media buffered ahead of the playhead, in seconds; at most a day.
    public private(set) var bufferLength: Seconds?
    /// `bs`: the buffer ran empty since the previous request.
    public private(set) var wasStarved = false
    /// `su`: the player needs this object at once: at startup, after a seek, or with an empty buffer.
    public private(set) var isUrgent = false
    /// `pr`: the playback rate. 1 is real time, 0 is paused; at most 16.
    public private(set) var playbackRate: Ratio?
    /// `pt`: the playhead, in seconds of the player's own media time.
    public private(set) var playhead: Seconds?
    /// `sta`: the player's state.
    public private(set) var state: State?
    /// `bsa`: number of stalls since the session began.
    public private(set) var stalls: Int?
    /// `bsda`: time in these stalls, in seconds.
    public private(set) var stallTime: Seconds?
    /// `dfa`: number of dropped pictures since the session began.
    public private(set) var framesDropped: Int?
    /// `msd`: time from the play command to the first picture, in seconds.
    public private(set) var startup: Seconds?
    /// `sid`: the session id that the player chose; at most 64 characters.
    public private(set) var sessionID: String?
    /// No client data.
    public init() {}
    /// Parses one field value or the decoded query parameter. A later key overrides an earlier one.
    public init(_ text: some Collection<UInt8>) { read(text) }

    mutating func read(_ text: some Collection<UInt8>) {
        for pair in Self.pairs(Array(text)) {
            assign(pair.key, pair.value)
        }
    }

    private mutating func assign(_ key: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>?) {
        switch String(decoding: key, as: UTF8.self) {
        case "bl": Self.update(&bufferLength, to: Self.numbers(value).min().map(Self.buffer))
        case "bs": wasStarved = Self.truth(value)
        case "su": isUrgent = Self.truth(value)
        case "pr": Self.update(&playbackRate, to: Self.decimal(value).map { min($0, Self.fastestRate) })
        case "pt": Self.update(&playhead, to: Self.decimal(value).map(Self.time))
        case "sta": Self.update(&state, to: Self.state(value))
        case "bsa": Self.update(&stalls, to: Self.numbers(value).max().map(Self.count))
        case "bsda": Self.update(&stallTime, to: Self.numbers(value).max().map(Self.time))
        case "dfa": Self.update(&framesDropped, to: Self.decimal(value).map(Self.count))
        case "msd": Self.update(&startup, to: Self.decimal(value).map(Self.time))
        case "sid": Self.update(&sessionID, to: Self.text(value))
        default: break
        }
    }

    /// Keeps the older value if the new one could not be read.
    private static func update<Value>(_ value: inout Value?, to newer: Value?) {
        if let newer {
            value = newer
        }
    }

    /// States of a player (`sta`).
    public enum State: String, Sendable, Hashable {
        case starting = "s"
        case playing = "p"
        case seeking = "k"
        case rebuffering = "r"
        case paused = "a"
        case waiting = "w"
        case ended = "e"
        case failed = "f"
        case quit = "q"
        case preloading = "d"
    }

    private static let longestBuffer: Seconds = 86_400
    /// Limits of times in seconds, a little more than a year, and of counters.
    private static let longestTime: Seconds = 4e7
    private static let mostEvents: Ratio = 1e9
    private static let fastestRate: Ratio = 16

    /// A key without a value is true; structured fields also write that as `?1` (RFC 8941 §3.3.6).
    private static func truth(_ value: ArraySlice<UInt8>?) -> Bool {
        guard let value else { return true }
        return value.elementsEqual("true".utf8) || value.elementsEqual("?1".utf8)
    }

    private static func seconds(_ milliseconds: Ratio) -> Seconds { Seconds(clamping: milliseconds.value / 1000) }

    private static func buffer(_ milliseconds: Ratio) -> Seconds { min(seconds(milliseconds), longestBuffer) }

    private static func time(_ milliseconds: Ratio) -> Seconds { min(seconds(milliseconds), longestTime) }

    private static func count(_ number: Ratio) -> Int { Int(min(number, mostEvents).value) }

    private static func state(_ value: ArraySlice<UInt8>?) -> State? {
        guard let value else { return nil }
        return State(rawValue: String(decoding: value, as: UTF8.self))
    }

    /// The numbers of an inner list (RFC 8941 §3.1.1) without their parameters, or a single number.
    private static func numbers(_ value: ArraySlice<UInt8>?) -> [Ratio] {
        guard let value, value.first == UInt8(ascii: "("), value.last == UInt8(ascii: ")") else {
            guard let number = decimal(value) else { return [] }
            return [number]
        }
        return value.dropFirst().dropLast().split(separator: UInt8(ascii: " ")).prefix(longestList).compactMap { item in
            decimal(item.prefix { $0 != UInt8(ascii: ";") })
        }
    }

    private static let longestList = 16

    /// Parses digits with at most one point: no sign, no exponent.
    private static func decimal(_ value: ArraySlice<UInt8>?) -> Ratio? {
        guard let value, (1...16).contains(value.count), value.first != UInt8(ascii: ".") else { return nil }
        return Ratio(decimal: String(decoding: value, as: UTF8.self))
    }

    /// The characters between the quotes, with escapes resolved.
    private static func text(_ value: ArraySlice<UInt8>?) -> String? {
        guard let value, value.count >= 2, value.first == ByteClass.quote, value.last == ByteClass.quote else {
            return nil
        }
        var text: [UInt8] = []
        var isEscaped = false
        for byte in value.dropFirst().dropLast() {
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            if !isEscaped, byte >= 0x20, byte < 0x7F {
                text.append(byte)
            }
        }
        return String(decoding: text.prefix(64), as: UTF8.self)
    }

    /// The keys with their values. A comma between quotes separates nothing.
    private static func pairs(_ bytes: [UInt8]) -> [(key: ArraySlice<UInt8>, value: ArraySlice<UInt8>?)] {
        var pairs: [(key: ArraySlice<UInt8>, value: ArraySlice<UInt8>?)] = []
        var start = 0
        var isQuoted = false
        var isEscaped = false
        for index in 0...bytes.count {
            let byte = index < bytes.count ? bytes[index] : ByteClass.comma
            if index == bytes.count || (byte == ByteClass.comma && !isQuoted) {
                pairs.append(pair(ByteClass.trimmed(bytes[start..<index])))
                start = index + 1
            } else if isEscaped {
                isEscaped = false
            } else if byte == ByteClass.quote {
                isQuoted.toggle()
            } else {
                isEscaped = isQuoted && byte == UInt8(ascii: "\\")
            }
        }
        return pairs
    }

    private static func pair(_ item: ArraySlice<UInt8>) -> (key: ArraySlice<UInt8>, value: ArraySlice<UInt8>?) {
        guard let equals = item.firstIndex(of: UInt8(ascii: "=")) else { return (item, nil) }
        return (item[..<equals], item[(equals + 1)...])
    }

    private static let parameter = "CMCD"

    /// Removes the CMCD parameter from a query, so that client data neither reaches an origin nor changes a resource's URL.
    /// - Returns: nil when nothing else is left; the query unchanged when it has no CMCD parameter.
    public static func removed(from query: String?) -> String? {
        guard let query, mayHold(query.utf8) else { return query }
        let all = query.split(separator: "&", omittingEmptySubsequences: false)
        let rest = all.filter { !isOurs($0) }
        if rest.count == all.count {
            return query
        }
        guard !rest.isEmpty else { return nil }
        return rest.joined(separator: "&")
    }

    /// The decoded CMCD parameter of a query; nil without one.
    static func value(inQuery query: Substring) -> String? {
        guard mayHold(query.utf8), let parameter = query.split(separator: "&").first(where: isOurs) else { return nil }
        guard let equals = parameter.firstIndex(of: "=") else { return nil }
        return PercentEncoding.decode(parameter[parameter.index(after: equals)...])
    }

    private static func isOurs(_ parameter: Substring) -> Bool {
        PercentEncoding.decode(parameter.prefix { $0 != "=" }) == Self.parameter
    }

    /// A cheap test that avoids splitting most queries. The name may be percent-encoded, hence the `%`.
    private static func mayHold(_ query: some Collection<UInt8>) -> Bool {
        query.contains { $0 == UInt8(ascii: "C") || $0 == UInt8(ascii: "%") }
    }
}

extension RequestHead {
    /// The CMCD that the player sent; nil without any. Costs a look at the length of each field name in that case.
    public var clientData: CMCD? {
        guard mayHoldClientData else { return nil }
        return foundClientData
    }

    /// Makes no copy and no reference count: each request for a stored piece passes here.
    private var mayHoldClientData: Bool {
        for field in fields where (11...12).contains(field.nameEnd - field.nameStart) {
            return true
        }
        return bytes.withUnsafeBytes { $0[targetRange].contains(UInt8(ascii: "?")) }
    }

    private var foundClientData: CMCD? {
        var data: CMCD?
        for field in fields where Self.namesClientData(bytes[field.name]) {
            data = data ?? CMCD()
            data?.read(bytes[field.value])
        }
        if let query = queryBytes, let text = CMCD.value(inQuery: Substring(decoding: query, as: UTF8.self)) {
            data = data ?? CMCD()
            data?.read(text.utf8)
        }
        return data
    }

    private static func namesClientData(_ name: ArraySlice<UInt8>) -> Bool {
        let isNamed = { ByteClass.equals(name, ignoringCase: $0) }
        return switch name.count {
        case 11: isNamed("cmcd-status") || isNamed("cmcd-object")
        case 12: isNamed("cmcd-request") || isNamed("cmcd-session")
        default: false
        }
    }
}
