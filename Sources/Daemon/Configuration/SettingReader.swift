internal import Control
internal import Downloads
internal import Glibc
internal import Logging
internal import Orders
internal import Origin
internal import Store
internal import WeirAPI

extension Configuration {
    /// Source of a value. It decides which texts are accepted and which folder a relative path starts from.
    enum Source: Equatable {
        case option, environment, file
    }

    /// Sets a key of the table `[selection]`. Values that each request has anyway are left out.
    mutating func setSelection(_ key: Selection.Key, to setting: Setting) throws(Refusal) {
        let values: [String] =
            switch (key.kind, setting) {
            case (.truth, .truth(let truth)): truth ? ["true"] : []
            case (.text, .text(let text)), (.list, .text(let text)): [text]
            case (.text, .number(let number)): ["\(number)"]
            case (.list, .list(let texts)): texts
            case (.truth, _): throw Refusal("\(setting) is not true or false")
            case (.text, _): throw Refusal("\(setting) is not a text")
            case (.list, _): throw Refusal("\(setting) is not a text or a list of texts")
            }
        do throws(Selection.Key.Mistake) {
            try key.set(values, in: &selection)
        } catch {
            throw Refusal(error.description)
        }
        if selection.audio == .default {
            selection.audio = nil
        }
        if selection.subtitles == .auto {
            selection.subtitles = nil
        }
    }
}

/// Converts a setting to the type of its key. Values in the file have types; values from elsewhere are text.
struct SettingReader {
    let setting: Setting
    let source: Configuration.Source
    /// The user's home folder.
    let home: String

    /// True if the value has the type that the file gives it.
    private var isTyped: Bool { source == .file }

    func text(_ wanted: String) throws(Refusal) -> String {
        guard case .text(let text) = setting else { throw mismatch(wanted) }
        return text
    }

    func truth() throws(Refusal) -> Bool {
        switch setting {
        case .truth(let value): return value
        case .text("true") where !isTyped, .text("1") where !isTyped, .text("yes") where !isTyped: return true
        case .text("false") where !isTyped, .text("0") where !isTyped, .text("no") where !isTyped: return false
        default: throw mismatch("true or false")
        }
    }

    func number(in range: ClosedRange<Int>) throws(Refusal) -> Int {
        let wanted = "a number from \(range.lowerBound) to \(range.upperBound)"
        var value: Int?
        if case .number(let number) = setting {
            value = number
        }
        if case .text(let text) = setting, !isTyped {
            value = Int(text)
        }
        guard let value, range.contains(value) else { throw mismatch(wanted) }
        return value
    }

    func reserve() throws(Refusal) -> Int? {
        if case .text("auto") = setting {
            return nil
        }
        return try number(in: 0...100_000_000)
    }

    /// Reads a size in bytes; nil for no limit.
    func limit() throws(Refusal) -> Int64? {
        if case .text("unlimited") = setting {
            return nil
        }
        if setting == .number(0) {
            return 0
        }
        if case .number(let number) = setting, number > 0 {
            throw Self.withoutUnit("\(number)")
        }
        guard case .text(let text) = setting, let bytes = ByteSize.bytes(text) else {
            throw mismatch("a size, such as 2GB or 500MB, or unlimited")
        }
        if bytes > 0, let last = text.last, last.isNumber {
            throw Self.withoutUnit(text)
        }
        return bytes
    }

    /// The refusal of a size of which it is not clear whether bytes or gigabytes are meant.
    private static func withoutUnit(_ number: String) -> Refusal {
        Refusal("\(number) has no unit: write \"\(number)GB\", \"\(number)MB\" or, for bytes, \"\(number)B\"")
    }

    func purge() throws(Refusal) -> PurgePlan.Limit {
        let names = PurgePlan.Limit.allCases.map(\.rawValue).joined(separator: ", ")
        guard case .text(let text) = setting, let limit = PurgePlan.Limit(rawValue: text) else {
            throw mismatch("one of \(names)")
        }
        return limit
    }

    /// Reads a duration in seconds; nil for no limit.
    func span() throws(Refusal) -> Int64? {
        if case .text("never") = setting {
            return nil
        }
        guard case .text(let text) = setting, let seconds = TimeSpan.seconds(text) else {
            throw mismatch("a duration, such as 30d or 48h, or never")
        }
        return Int64(seconds)
    }

    /// Reads the length of a time shift in seconds; nil for none. Longer ones than a day are no window that a player could use.
    func timeshift() throws(Refusal) -> Int64? {
        if setting == .number(0) || setting == .text("0") || setting == .text("off") {
            return nil
        }
        guard case .text(let text) = setting, let seconds = TimeSpan.seconds(text), seconds <= 86_400 else {
            throw mismatch("a time up to 24h, such as 30m, or off")
        }
        return Int64(seconds)
    }

    /// Reads the permissions of files.
    func mode() throws(Refusal) -> UInt32 {
        guard case .text(let text) = setting, ["0600", "0640", "0644"].contains(text), let mode = UInt32(text, radix: 8)
        else { throw mismatch("\"0600\", \"0640\" or \"0644\"") }
        return mode
    }

    /// Reads one of two words.
    func choice(false no: String, true yes: String) throws(Refusal) -> Bool {
        switch setting {
        case .text(no): return false
        case .text(yes): return true
        default: throw mismatch("\(no) or \(yes)")
        }
    }

    func list(_ wanted: String = "a list of strings") throws(Refusal) -> [String] {
        switch setting {
        case .list(let values): return values
        case .text(let text) where isTyped: return [text]
        case .text(let text): return text.split(separator: ",").map(String.init)
        default: throw mismatch(wanted)
        }
    }

    /// Reads a program and its arguments; none for an empty list.
    func command() throws(Refusal) -> [String] {
        let words = try list("a program and its arguments, such as [\"notify\", \"--urgent\"]")
        guard words.first != "", !words.contains(where: { $0.utf8.contains(0) }) else {
            throw mismatch("a program and its arguments")
        }
        return words
    }

    func addresses() throws(Refusal) -> [ListenAddress] {
        let wanted = "an address with a port, or a list of these"
        let texts = try list(wanted)
        guard !texts.isEmpty else { throw mismatch(wanted) }
        var addresses: [ListenAddress] = []
        for text in texts {
            addresses.append(try ListenAddress(text))
        }
        return addresses
    }

    /// Reads an address for the network; nil for an empty text.
    func network() throws(Refusal) -> NetworkAddress? {
        let text = try text("an address of this machine")
        guard !text.isEmpty else { return nil }
        return try NetworkAddress(text)
    }

    /// Reads a proxy; nil for an empty text. Messages do not repeat the text, which may contain a password.
    func proxy() throws(Refusal) -> ProxyChoice? {
        guard case .text(let text) = setting else {
            throw Refusal("the value is not a proxy, such as \"http://host:3128\", or \"direct\"")
        }
        guard !text.isEmpty else { return nil }
        do throws(RouteRefusal) { return try ProxyChoice(text) } catch { throw Refusal(error.description) }
    }

    func hosts() throws(Refusal) -> [AllowedHost] {
        var hosts: [AllowedHost] = []
        for text in try list("a list of hosts") {
            do throws(RouteRefusal) { hosts.append(try AllowedHost(text)) } catch { throw Refusal(error.description) }
        }
        return hosts
    }

    /// Reads the path of something that exists; nil for an empty text.
    func readable(_ what: String) throws(Refusal) -> String? {
        if case .text("") = setting {
            return nil
        }
        let path = try folder(what)
        guard access(path, R_OK) == 0 else {
            throw Refusal("\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        return path
    }

    /// Reads users by name or number.
    func users() throws(Refusal) -> Set<UInt32> {
        let texts: [String]
        if case .number(let number) = setting {
            texts = ["\(number)"]
        } else {
            texts = try list("a list of users")
        }
        var users: Set<UInt32> = []
        for text in texts {
            // The largest number stands for no user.
            if let number = UInt32(text), number < .max {
                users.insert(number)
            } else if let entry = getpwnam(text) {
                users.insert(entry.pointee.pw_uid)
            } else {
                throw Refusal("this machine has no user \"\(text)\"")
            }
        }
        return users
    }

    func otherUsers() throws(Refusal) -> OtherUsers {
        let names = OtherUsers.allCases.map(\.rawValue).joined(separator: " or ")
        guard case .text(let text) = setting, let others = OtherUsers(rawValue: text) else { throw mismatch(names) }
        return others
    }

    func origins() throws(Refusal) -> [String] {
        let texts = try list()
        for text in texts {
            let scheme = ["https://", "http://"].first { text.hasPrefix($0) }
            let rest = text.dropFirst(scheme?.count ?? text.count)
            guard !rest.isEmpty, !rest.contains("/"), !rest.contains(" ") else {
                throw Refusal("\"\(text)\" is not an origin, such as http://localhost:3000")
            }
        }
        return texts
    }

    func agent() throws(Refusal) -> String {
        let text = try text("a User-Agent")
        guard !text.isEmpty, text.utf8.count <= 512, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
            throw Refusal("a User-Agent has 1 to 512 printable ASCII characters")
        }
        return text
    }

    func level() throws(Refusal) -> Logger.Level {
        let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        guard case .text(let text) = setting, let level = Logger.Level(rawValue: text) else {
            throw mismatch("one of \(names)")
        }
        return level
    }

    /// Reads an absolute path. The file has no base for a relative one.
    func folder(_ what: String = "a folder") throws(Refusal) -> String {
        var path = try text(what)
        if path == "~" || path.hasPrefix("~/") {
            path = home + path.dropFirst()
        }
        if !path.hasPrefix("/"), source != .file, !path.isEmpty {
            path = currentFolder() + "/" + path
        }
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw mismatch("\(what)'s absolute path, or one that begins with ~/")
        }
        while path.count > 1, path.hasSuffix("/") {
            path.removeLast()
        }
        return path
    }

    func mismatch(_ wanted: String) -> Refusal { Refusal("\(setting) is not \(wanted)") }
}

extension Setting: CustomStringConvertible {
    package var description: String {
        switch self {
        case .text(let text): "\"\(text)\""
        case .list(let values): "[" + values.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
        case .number(let value): "\(value)"
        case .truth(let value): "\(value)"
        case .other(let type): "a value of type \(type)"
        }
    }
}

private func currentFolder() -> String {
    guard let buffer = getcwd(nil, 0) else { return "/" }
    defer { free(buffer) }
    return String(cString: buffer)
}

/// Parses sizes as users write them: `2GB`, `1.5 GB`, `500M`, `0`.
enum ByteSize {
    /// Powers of 1024, as in the command line's output.
    private static let units: [(names: Set<String>, factor: Double)] = [
        (["", "b"], 1), (["k", "kb", "kib"], 0x1p10), (["m", "mb", "mib"], 0x1p20), (["g", "gb", "gib"], 0x1p30),
        (["t", "tb", "tib"], 0x1p40),
    ]

    /// The size in bytes; nil for invalid text, and for sizes beyond any disk.
    static func bytes(_ text: String) -> Int64? {
        let number = text.prefix { $0.isASCII && $0.isNumber || $0 == "." }
        let unit = text.dropFirst(number.count).drop { $0 == " " }.lowercased()
        guard let factor = units.first(where: { $0.names.contains(unit) })?.factor, let first = number.first,
            first != ".", number.last != ".", let value = Double(number), value * factor < 0x1p60
        else { return nil }
        return Int64(value * factor)
    }
}
