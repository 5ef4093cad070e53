public import HTTPMessage

/// The head of the final reply: not of a redirect or a failure that is retried.
public struct OriginHead: Sendable {
    /// The status code: 200 or 206, unless the request accepts others.
    public let status: Int
    /// The URL that answered, after redirects: the base of relative references.
    public let url: WebURL
    /// The length in bytes of the requested resource or range, bytes that the receiver already had included; nil if the
    /// origin does not announce it, or announces it for an encoded body only.
    public let length: Int64?
    /// All header fields in order. They may contain secrets: do not log them.
    public let fields: FieldSection
    /// Allows the body to be resumed later; nil without a strong validator.
    public let validator: StrongValidator?
    /// The peer's address, without port.
    public let address: String?

    /// The first value of a field.
    public subscript(_ name: FieldName) -> String? { fields[name] }

    /// The Content-Type as sent.
    public var mediaType: MediaType? { self[.contentType].flatMap { MediaType($0) } }
}
