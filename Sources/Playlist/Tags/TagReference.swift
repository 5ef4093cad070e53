/// The URI of a line that Weir does not act on, EXT-X-IMAGE-STREAM-INF or EXT-X-CONTENT-STEERING: located so that a view
/// can make it absolute.
public struct TagReference: Sendable {
    /// The tag's name with its `#`.
    public let tag: String
    /// The URI as written.
    public let uri: String
    /// The number of the line, from 1.
    public let line: Int

    /// The attribute that holds the URI.
    let attribute: String

    /// Finds the URI of a line; nil where the tag has none, or where the line cannot be read: it then stays as it is.
    init?(_ text: PlaylistText, _ line: Int) {
        guard case .tag(let tag) = text.lines[line].kind else { return nil }
        switch tag {
        case .imageStreamInf: attribute = "URI"
        case .contentSteering: attribute = "SERVER-URI"
        default: return nil
        }
        guard let uri = try? text.attributes(line)[attribute] else { return nil }
        self.tag = tag.rawValue
        self.uri = uri
        self.line = line + 1
    }
}
