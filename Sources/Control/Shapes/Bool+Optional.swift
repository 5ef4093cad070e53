extension Bool {
    /// True, or nil in place of false: the API leaves out what is false.
    var trueOrNil: Bool? {
        guard self else { return nil }
        return true
    }
}
