/// Text in the exposition format of OpenMetrics 1.0, which Prometheus and its like read.
struct MetricsText {
    /// Type of a metric family.
    enum Kind: String {
        /// A number that goes up and down.
        case gauge
        /// One that only grows, from the start of the process.
        case counter
        /// No number, but labels.
        case info

        /// Suffix of the names of its samples.
        fileprivate var suffix: String {
            switch self {
            case .gauge: ""
            case .counter: "_total"
            case .info: "_info"
            }
        }
    }

    private var lines: [String] = []

    /// Adds a family of one sample.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, unit: String? = nil, _ value: some Numeric) {
        add(name, kind, help, unit: unit, label: nil, [("", value)])
    }

    /// Adds a family with a sample for each value of its one label. Both are words of ours, with nothing to escape, and few:
    /// no name of an asset, and no URL.
    ///
    /// - Parameter unit: what the name ends with, if it is a unit.
    mutating func add<Value: Numeric>(
        _ name: String, _ kind: Kind, _ help: String, unit: String? = nil, label: String?, _ samples: [(String, Value)]
    ) {
        lines.append("# TYPE \(name) \(kind.rawValue)")
        if let unit { lines.append("# UNIT \(name) \(unit)") }
        lines.append("# HELP \(name) \(help)")
        for (value, number) in samples {
            let labels = label.map { "{\($0)=\"\(value)\"}" } ?? ""
            lines.append("\(name)\(kind.suffix)\(labels) \(number)")
        }
    }

    /// All of it, with its end.
    var bytes: [UInt8] { Array((lines.joined(separator: "\n") + "\n# EOF\n").utf8) }
}
