import HTTPMessage

extension Exchange {
    /// The same request as one whose target begins behind `count` bytes of its path, to be answered in the place of this
    /// one, which then has nothing more to say.
    ///
    /// - Parameter count: of a prefix of the path that ends before a slash.
    public func mounted(behind count: Int) -> Exchange {
        let mount = String(decoding: head.targetBytes.prefix(count), as: UTF8.self)
        return handOn(head: head.mounted(behind: count), mount: mount)
    }
}
