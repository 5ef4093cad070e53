/// A reason why a text is not a URL that Weir can request.
public enum WebURLError: String, Error, Hashable, Sendable, CustomStringConvertible {
    /// A scheme other than http and https, or a missing scheme where the text must be absolute.
    case unsupportedScheme
    /// A user name or password before the host. Credentials travel in header fields, never in URLs.
    case userInformation
    /// The host is missing.
    case missingHost
    /// A host that is neither a registered name in ASCII letters, digits, `-`, `_` and `.` nor an IP address. An
    /// internationalised name must be in its `xn--` form.
    case invalidHost
    /// A port outside 1–65535, or not a number.
    case invalidPort
    /// A control character, or a blank in a disallowed position.
    case forbiddenCharacter

    /// The reason for a user, without the text itself, which may contain secrets.
    public var description: String {
        switch self {
        case .unsupportedScheme: "the URL must begin with http:// or https://"
        case .userInformation: "the URL must not contain a user name or password"
        case .missingHost: "the URL has no host"
        case .invalidHost: "the URL's host is not a valid name or address"
        case .invalidPort: "the URL's port is not a number from 1 to 65535"
        case .forbiddenCharacter: "the URL contains a blank or a control character"
        }
    }
}
