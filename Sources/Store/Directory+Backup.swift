/// What tells tools for backups to pass a folder over: CACHEDIR.TAG, as https://bford.info/cachedir/ has it. tar, borg,
/// restic and others look for it.
extension Directory {
    /// The file's name.
    static let cacheTag = "CACHEDIR.TAG"
    private static let signature = "Signature: 8a477f597d28d172789f06886806bc55"

    /// Marks the folder, or takes the mark away. A file of that name that is no mark stays as it is.
    public func setExcludedFromBackups(_ isExcluded: Bool) throws(StoreError) {
        let found = try read(Self.cacheTag)
        if isExcluded, found == nil {
            let text = Self.signature + "\n# Weir's user wants no backups of this folder.\n"
            try write(Array(text.utf8), as: Self.cacheTag, mode: 0o644)
        } else if !isExcluded, found?.starts(with: Self.signature.utf8) ?? false {
            try remove(Self.cacheTag)
        }
    }
}

extension Store {
    /// Marks all that is kept, or takes that mark away. The catalogue is not meant: it is small, and says what was there.
    public func setExcludedFromBackups(_ isExcluded: Bool) throws(StoreError) {
        guard readOnlyReason == nil else { return }
        try assets?.setExcludedFromBackups(isExcluded)
    }
}
