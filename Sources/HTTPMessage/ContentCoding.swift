/// The meaning of a body's Content-Encoding fields (RFC 9110 §8.4) for a receiver.
///
/// Origins also send words that are no content codings: a character set, `none`, `aws-chunked` of an upload. Players ignore
/// them, because the body is as it would be without the field.
public enum ContentCoding: Hashable, Sendable {
    /// The body is the resource itself.
    case identity
    /// The body is the result of codings that can be undone.
    case decodable
    /// Some of the words are codings and some are not, so that the bytes are neither the resource nor decodable.
    case mixed

    /// The codings that can be undone, in lower case, with their other names (RFC 9110 §8.4.1, RFC 7932, RFC 8878).
    private static let known: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd"]
    private static let empty: Set<String> = ["", "identity", "none"]

    /// Parses the values of all Content-Encoding fields of a head.
    public init(_ values: [String]) {
        let words = values.flatMap { $0.split(separator: ",") }
            .map { $0.prefix { $0 != ";" }.filter { !" \t".contains($0) }.lowercased() }
            .filter { !Self.empty.contains($0) }

        switch words.count(where: { Self.known.contains($0) }) {
        case 0: self = .identity
        case words.count: self = .decodable
        default: self = .mixed
        }
    }
}
