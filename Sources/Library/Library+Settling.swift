import EventLoop

extension Library {
    /// Waits until all that has come whole is a piece, for an orderly stop.
    public func settle() async { await loader.committer.settle() }
}
