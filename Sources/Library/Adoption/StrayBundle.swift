/// A bundle in the store that no asset knows, and that cannot be made one: nothing is done with it, but it can be removed.
public struct StrayBundle: Equatable, Sendable {
    /// The folder's name.
    public let id: String
    /// What it is listed as; no asset has that name.
    public let name: String
    /// Why it is of no use, in a sentence.
    public let reason: String
}
