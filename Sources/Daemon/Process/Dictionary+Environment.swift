extension [String: String] {
    /// The value of an environment's variable; nil if it is missing or empty.
    func value(ofVariable name: String) -> String? {
        guard let value = self[name], !value.isEmpty else { return nil }
        return value
    }

    /// Those of the variables that are set, as `NAME=VALUE`.
    func assignments(of names: [String]) -> [String] {
        names.compactMap { name in
            guard let value = self[name] else { return nil }
            return "\(name)=\(value)"
        }
    }

    /// The absolute path in an environment's variable. Any other value counts as missing, as in the XDG Base Directory
    /// Specification.
    func absolutePath(inVariable name: String) -> String? {
        guard let path = self[name], path.hasPrefix("/") else { return nil }
        return path
    }
}
