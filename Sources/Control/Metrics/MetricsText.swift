/// Text in the exposition format of OpenMetrics 1.0, which Prometheus and compatible systems read.
struct MetricsText {
    /// Type of a metric family.
    enum Kind: String {
        /// A value that rises and falls.
        case gauge
        /// A value that only grows from the start of the process.
        case counter
        /// Labels without a value.
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

    /// Adds a family with one sample per value of its single label. Label and values are constants that need no
    /// escaping, and few: never an asset's name or a URL.
    ///
    /// - Parameter unit: the suffix of the name, if it is a unit.
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

    /// The complete text with its end marker.
    var bytes: [UInt8] { Array((lines.joined(separator: "\n") + "\n# EOF\n").utf8) }
}
