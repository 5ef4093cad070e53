/// A log in the W3C Extended Log File Format, parsed strictly by WD-logfile-960323.
package struct ExtendedLog: Sendable {
    package private(set) var directives: [(name: String, value: String)] = []
    package private(set) var fields: [String] = []
    /// Entries by field name. `-` is kept, quotes are removed.
    package private(set) var entries: [[String: String]] = []

    package struct Fault: Error, CustomStringConvertible {
        package let description: String
    }

    package init(_ lines: [String]) throws {
        for (index, line) in lines.enumerated() {
            do {
                if line.hasPrefix("#") {
                    try readDirective(line)
                } else {
                    try readEntry(line)
                }
            } catch let fault as Fault {
                throw Fault(description: "line \(index + 1): \(fault.description): \(line)")
            }
        }
        guard directives.contains(where: { $0.name == "Version" }), !fields.isEmpty else {
            throw Fault(description: "Version or Fields is missing")
        }
    }

    private static let known: Set = ["Version", "Fields", "Software", "Start-Date", "End-Date", "Date", "Remark"]

    private mutating func readDirective(_ line: String) throws {
        guard let colon = line.firstIndex(of: ":") else { throw Fault(description: "no colon") }
        let name = String(line[line.index(after: line.startIndex)..<colon])
        guard Self.known.contains(name) else { throw Fault(description: "no directive of the format") }
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        if name == "Version", value != "1.0" {
            throw Fault(description: "another version")
        }
        if name == "Fields" {
            fields = value.split(separator: " ").map(String.init)
        }
        if name == "Date" {
            try Self.check(value.split(separator: " ").map(String.init))
        }
        directives.append((name, String(value)))
    }

    private static func check(_ moment: [String]) throws {
        guard moment.count == 2, isShaped(moment[0], "0000-00-00"), isTime(moment[1]) else {
            throw Fault(description: "no date and time")
        }
    }

    /// Fields are separated by white space; strings are quoted, and a quote inside is doubled.
    private mutating func readEntry(_ line: String) throws {
        guard !fields.isEmpty else { throw Fault(description: "an entry before Fields") }
        var values: [String] = []
        var rest = line[...]
        while !rest.isEmpty {
            values.append(try Self.readField(&rest))
            guard rest.isEmpty || rest.first == " " else { throw Fault(description: "no blank behind a field") }
            rest = rest.dropFirst()
        }
        guard values.count == fields.count else {
            throw Fault(description: "\(values.count) values for \(fields.count) fields")
        }
        let entry = Dictionary(zip(fields, values)) { $1 }
        for (name, value) in entry {
            try Self.check(name, value)
        }
        entries.append(entry)
    }

    private static func readField(_ rest: inout Substring) throws -> String {
        guard rest.first == "\"" else {
            let value = rest.prefix { $0 != " " && $0 != "\t" }
            guard !value.isEmpty, !value.contains("\"") else { throw Fault(description: "an empty field, or a quote") }
            rest = rest.dropFirst(value.count)
            return String(value)
        }
        var value = ""
        rest = rest.dropFirst()
        while let character = rest.first {
            rest = rest.dropFirst()
            if character == "\"" {
                guard rest.first == "\"" else { return value }
                rest = rest.dropFirst()
            }
            value.append(character)
        }
        throw Fault(description: "a quote without end")
    }

    private static func check(_ name: String, _ value: String) throws {
        if value == "-" {
            return
        }
        let isRight =
            switch name {
            case "date": isShaped(value, "0000-00-00")
            case "time": isTime(value)
            case "bytes", "sc-count", "s-ip-changes", "sc-indicated-bitrate", "c-stalls", "c-overdue", "status":
                !value.isEmpty && value.utf8.allSatisfy { (48...57).contains($0) }
            case "c-duration-downloaded", "c-start-time", "c-duration-watched", "c-observed-bitrate", "c-startup-time",
                "c-observed-min-bitrate", "c-observed-max-bitrate", "c-observed-bitrate-sd":
                isFixed(value)
            case "uri": value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            default: true
            }
        if !isRight {
            throw Fault(description: "\(name) is no \(value)")
        }
    }

    private static func isShaped(_ value: String, _ shape: String) -> Bool {
        String(value.map { ("0"..."9").contains($0) ? "0" : $0 }) == shape
    }

    private static func isTime(_ value: String) -> Bool {
        isShaped(value, "00:00:00") || isShaped(value, "00:00:00.000")
    }

    /// True for digits with an optional point: the format's "fixed".
    private static func isFixed(_ value: String) -> Bool {
        let parts = value.split(separator: ".", omittingEmptySubsequences: false)
        return (1...2).contains(parts.count)
            && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } }
    }
}
