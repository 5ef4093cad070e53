public import HTTPMessage

/// The head of the reply that is passed on: not of a redirect, nor of a failure that is retried.
public struct OriginHead: Sendable {
    /// The status code: 200 or 206, but for a request that answers any status.
    public let status: Int
    /// The URL that answered, after redirects: the base of relative references.
    public let url: WebURL
    /// Bytes in the whole of what was asked for (the range, if there was one), those that the receiver had included;
    /// nil when the origin does not say, or says it of an encoded form.
    public let length: Int64?
    /// All header fields in their order. Hold what an origin sent: not for logs.
    public let fields: FieldSection
    /// What to resume by later; nil when the origin gives nothing strong.
    public let validator: StrongValidator?
    /// The address that answered, without its port.
    public let address: String?

    /// The first value of a field.
    public subscript(_ name: FieldName) -> String? { fields[name] }

    /// The Content-Type, as the origin has it.
    public var mediaType: MediaType? { self[.contentType].flatMap { MediaType($0) } }
}
