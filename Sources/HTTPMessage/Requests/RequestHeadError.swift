/// A reason to refuse a request head.
///
/// The message's end is then unknown or untrusted, so the connection is closed after the reply.
public enum RequestHeadError: Error, Sendable, Hashable, CaseIterable {
    case malformedRequestLine, unknownMethod, malformedTarget, targetTooLong, unsupportedVersion, bareLineFeed
    case foldedField, malformedField, controlCharacter, tooManyFields, headersTooLarge, missingHost, repeatedHost
    case malformedHost, repeatedContentLength, malformedContentLength, transferEncoding, unexpectedBody, bodyTooLarge
    case unknownExpectation, contradictoryHost

    /// The status of the reply.
    public var status: HTTPStatus {
        switch self {
        case .unknownMethod: .notImplemented
        case .targetTooLong: .targetTooLong
        case .unsupportedVersion: .versionNotSupported
        case .tooManyFields, .headersTooLarge: .headTooLarge
        case .bodyTooLarge: .contentTooLarge
        case .unknownExpectation: .expectationFailed
        default: .badRequest
        }
    }

    /// One sentence for the client.
    public var sentence: String {
        switch self {
        case .malformedRequestLine: "The request line is not \"METHOD /target HTTP/1.1\"."
        case .unknownMethod: "This method is not supported."
        case .malformedTarget: "The request target must be a path or an http URL, without blanks, controls or fragment."
        case .targetTooLong: "The request target is too long."
        case .unsupportedVersion: "Only HTTP/1.1 and HTTP/1.0 are supported."
        case .bareLineFeed: "Lines must end with CRLF."
        case .foldedField: "Folded header fields are not accepted."
        case .malformedField: "A header field is not \"Name: value\"."
        case .controlCharacter: "A header field has a control character in its value."
        case .tooManyFields: "There are too many header fields."
        case .headersTooLarge: "The header fields are too large."
        case .missingHost: "The Host header field is missing."
        case .repeatedHost: "There is more than one Host header field."
        case .malformedHost: "The Host header field is not a host and port."
        case .contradictoryHost: "The request target and the Host header field name different hosts."
        case .repeatedContentLength: "There is more than one Content-Length header field."
        case .malformedContentLength: "The Content-Length header field is not a number."
        case .transferEncoding: "Transfer-Encoding is not accepted on requests; send a Content-Length."
        case .unexpectedBody: "A request with this method must not have a body."
        case .bodyTooLarge: "The request's body is too large."
        case .unknownExpectation: "The only supported expectation is 100-continue."
        }
    }
}
