import ArgumentParser
import Daemon

/// The options of `weir serve`: one for each key of the configuration that is an option of this command alone.
///
/// The parser finds the options of a type by reflection, and decodes each by its label. Both come from the table of keys
/// here, so that a key has no property.
struct KeyOptions: ParsableArguments, CustomReflectable {
    /// The values of the options that were given.
    private(set) var settings: [Configuration.Key: [String]] = [:]

    static let keys = Configuration.Key.allCases.filter { $0.option.owner == .serve }

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Label.self)
        for key in Self.keys {
            settings[key] = try Self.values(of: key, in: container)
        }
    }

    /// The options with their labels, made once: the parser reflects on a type for each of its questions, in a debug build some
    /// hundred times. Safe without isolation, because nothing changes them.
    nonisolated(unsafe) private static let definitions = keys.map { key in
        (label: Optional(key.rawValue), value: definition(of: key))
    }

    var customMirror: Mirror { Mirror(self, children: Self.definitions) }

    private static func definition(of key: Configuration.Key) -> Any {
        switch key.option.kind {
        case .flag: Flag(wrappedValue: false, name: .key(key), help: ArgumentHelp(key))
        case .value: Option<String?>(name: .key(key), help: ArgumentHelp(key))
        case .values: Option<[String]>(wrappedValue: [], name: .key(key), help: ArgumentHelp(key))
        }
    }

    /// The values of an option; nil if it was not given.
    private static func values(
        of key: Configuration.Key, in container: KeyedDecodingContainer<Label>
    ) throws -> [String]? {
        let label = Label(stringValue: key.rawValue)
        switch key.option.kind {
        case .flag(let value):
            let isGiven = try container.decode(Flag<Bool>.self, forKey: label).wrappedValue
            guard isGiven else { return nil }
            return ["\(value)"]
        case .value:
            return try container.decode(Option<String?>.self, forKey: label).wrappedValue.map { [$0] }
        case .values:
            let values = try container.decode(Option<[String]>.self, forKey: label).wrappedValue
            guard !values.isEmpty else { return nil }
            return values
        }
    }

    /// A label of the parser: the name of a key.
    private struct Label: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension NameSpecification {
    /// The name of a key's option, and a former one.
    static func key(_ key: Configuration.Key) -> NameSpecification {
        let names = [key.optionName] + [key.formerOptionName].compactMap(\.self)
        return NameSpecification(names.map { .customLong($0) })
    }
}

extension ArgumentHelp {
    /// The help of a key's option.
    init(_ key: Configuration.Key) {
        switch key.option.kind {
        case .flag: self.init(key.option.help)
        case .value(let name), .values(let name): self.init(key.option.help, valueName: name)
        }
    }
}
