extension Configuration {
    /// The declaration of a key: how a value is read and written, its option, and its texts. The default is the
    /// property's.
    struct Entry {
        let section: Section
        let option: Option
        /// The comment in `conf/weir.toml`.
        let manual: String
        /// Sets the key's property.
        let read: (inout Configuration, SettingReader) throws(Refusal) -> Void
        /// The value of the key's property, as the file has it.
        let text: (Configuration) -> String

        /// Declares a key that is the option of `weir serve`, or of the commands of `owner`.
        /// - Parameter name: the option's name where it is not the key's, which is accepted still.
        init<Value>(
            _ path: WritableKeyPath<Configuration, Value>, _ form: SettingForm<Value>, under section: Section,
            option kind: Option.Kind, named name: String? = nil, of owner: Option.Owner = .serve, help: String,
            manual: String
        ) {
            self.section = section
            self.option = Option(kind: kind, name: name, owner: owner, help: help)
            self.manual = manual
            read = { configuration, reader throws(Refusal) in
                configuration[keyPath: path] = try form.read(reader)
            }
            text = { form.text($0[keyPath: path]) }
        }
    }

    /// The command line's option for a key.
    package struct Option {
        package enum Kind {
            /// A flag that sets the key to `true`, or to `false` if its name begins with `no-`.
            case flag(Bool = true)
            /// An option with one value of this name.
            case value(String)
            /// An option that may be repeated.
            case values(String)
        }

        /// The commands that have an option.
        package enum Owner {
            case serve
            case play
            /// Every command.
            case everyCommand
            /// Every command that starts the daemon where none runs.
            case starting
        }

        package let kind: Kind
        /// The name without its hyphens; nil for the key's own.
        let name: String?
        package let owner: Owner
        package let help: String
    }

    /// Sections by which the guide groups the keys, in its order.
    enum Section: String, CaseIterable {
        case addresses
        case users = "users of this machine"
        case folders
        case network
        case wayToOrigins = "way to origins"
        case rules = "when downloads run"
        case events
        case programs = "programs for events"
        case disk
        case encryptionKeys = "keys of encrypted media"
        case logs
        case background = "the daemon in the background"
        case play = "`weir play`"
    }
}

extension Configuration.Key {
    package var option: Configuration.Option { entry.option }

    /// The name of the option, without its hyphens.
    package var optionName: String {
        if let name = option.name {
            return name
        }
        switch option.kind {
        case .flag(false): return "no-" + rawValue
        case .flag, .value, .values: return rawValue
        }
    }

    /// A former name of the option, which is accepted still; nil for most.
    package var formerOptionName: String? {
        guard option.name != nil else { return nil }
        return rawValue
    }

    /// The name of the environment variable, for example `WEIR_MAX_PARALLEL`.
    package var variable: String { "WEIR_" + rawValue.uppercased().replacing("-", with: "_") }

    /// The key that a user may have meant; nil if none is similar enough.
    static func nearest(to name: String) -> Configuration.Key? {
        let names = allCases.map(\.rawValue)
        return NearestName.of(name.lowercased().replacing("_", with: "-"), in: names).flatMap { .init(rawValue: $0) }
    }
}

extension Configuration {
    mutating func set(_ key: Key, to setting: Setting, from source: Source, home: String) throws(Refusal) {
        try key.entry.read(&self, SettingReader(setting: setting, source: source, home: home))
        given.insert(key)
    }

    /// The value of a key, as the file has it.
    package func text(of key: Key) -> String { key.entry.text(self) }
}

/// A value before it is converted to the type of its key.
package enum Setting: Equatable, Sendable {
    /// A string of the file, or any option or variable.
    case text(String)
    case list([String])
    case number(Int)
    case truth(Bool)
    /// Any other TOML value, with the name of its type.
    case other(String)
}

/// The reason why a key does not accept a value, as a sentence.
struct Refusal: Error {
    let sentence: String
    init(_ sentence: String) { self.sentence = sentence }
}
