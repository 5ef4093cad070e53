extension Collection {
    /// The collection; nil if it is empty. The API leaves out what is empty.
    var nonEmpty: Self? {
        guard !isEmpty else { return nil }
        return self
    }
}
