/// As `asset.json` has it: `{"expires": 1798070400, "afterFirstPlay": 172800, "priority": "important",
/// "backup": "exclude", "keysExpire": 2592000, "keysAfterFirstPlay": 172800}`.
extension StoragePolicy: Codable {
    private enum Key: String, CodingKey {
        case expires, afterFirstPlay, priority, backup, keysExpire, keysAfterFirstPlay
    }

    /// Reads a policy; a priority that a newer Weir knows is taken for the default.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let priority = try values.decodeIfPresent(String.self, forKey: .priority).flatMap(Priority.init)
        self.init(
            expires: try values.decodeIfPresent(Int64.self, forKey: .expires),
            afterFirstPlay: try values.decodeIfPresent(Int64.self, forKey: .afterFirstPlay),
            priority: priority ?? .default,
            isExcludedFromBackups: try values.decodeIfPresent(String.self, forKey: .backup) == "exclude",
            keys: KeyTerms(
                lifetime: try values.decodeIfPresent(Int64.self, forKey: .keysExpire),
                afterFirstPlay: try values.decodeIfPresent(Int64.self, forKey: .keysAfterFirstPlay)))
    }

    /// Writes what is set.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encodeIfPresent(expires, forKey: .expires)
        try values.encodeIfPresent(afterFirstPlay, forKey: .afterFirstPlay)
        if priority != .default { try values.encode(priority, forKey: .priority) }
        try values.encodeIfPresent(keys.lifetime, forKey: .keysExpire)
        try values.encodeIfPresent(keys.afterFirstPlay, forKey: .keysAfterFirstPlay)
        if isExcludedFromBackups { try values.encode("exclude", forKey: .backup) }
    }
}
