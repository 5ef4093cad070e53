/// Why a text is not a URL that Weir would ask an origin for.
public enum WebURLError: String, Error, Hashable, Sendable, CustomStringConvertible {
    /// A scheme other than http and https, or none at all in a text that must be absolute.
    case unsupportedScheme
    /// A user name or password before the host: credentials travel in header fields, never in URLs.
    case userInformation
    /// Nothing where the host should stand.
    case missingHost
    /// A host that is neither a registered name in ASCII letters, digits, `-`, `_` and `.` nor an IP address. An
    /// internationalised name is to be written in its `xn--` form.
    case invalidHost
    /// A port that is not a number from 1 to 65535.
    case invalidPort
    /// A control character, or a blank where none may be.
    case forbiddenCharacter

    /// The reason as a user reads it, without the text itself, which may hold secrets.
    public var description: String {
        switch self {
        case .unsupportedScheme: "the URL must begin with http:// or https://"
        case .userInformation: "the URL must not carry a user name or password"
        case .missingHost: "the URL names no host"
        case .invalidHost: "the URL's host is not a valid name or address"
        case .invalidPort: "the URL's port is not a number from 1 to 65535"
        case .forbiddenCharacter: "the URL holds a blank or a control character"
        }
    }
}
