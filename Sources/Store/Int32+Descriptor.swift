extension Int32 {
    /// The descriptor; nil for a negative one, which a failed system call returns.
    var openDescriptor: Int32? {
        guard self >= 0 else { return nil }
        return self
    }
}
