/// A response's status code (RFC 9110 §15) with its reason phrase.
public struct HTTPStatus: Sendable, Hashable {
    /// Three digits, 100–599.
    public let code: Int
    /// Wraps any code, for instance an origin's. Codes outside 100–599 become 500.
    public init(_ code: Int) {
        let isValid = (100...599).contains(code)
        self.code = isValid ? code : 500
    }

    /// The reason phrase, for people who read captures; clients ignore it. Empty for codes without a constant here.
    public var reason: StaticString {
        switch code {
        case 100: "Continue"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 206: "Partial Content"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 425: "Too Early"
        case 431: "Request Header Fields Too Large"
        case 451: "Unavailable For Legal Reasons"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        case 507: "Insufficient Storage"
        default: ""
        }
    }

    /// True if a response with this status never has a body (RFC 9110 §6.4.1).
    public var forbidsBody: Bool { code < 200 || code == 204 || code == 304 }
    package static var ok: HTTPStatus { HTTPStatus(200) }
    package static var created: HTTPStatus { HTTPStatus(201) }
    package static var accepted: HTTPStatus { HTTPStatus(202) }
    package static var noContent: HTTPStatus { HTTPStatus(204) }
    package static var partialContent: HTTPStatus { HTTPStatus(206) }
    package static var notModified: HTTPStatus { HTTPStatus(304) }
    package static var badRequest: HTTPStatus { HTTPStatus(400) }
    package static var unauthorized: HTTPStatus { HTTPStatus(401) }
    package static var forbidden: HTTPStatus { HTTPStatus(403) }
    package static var notFound: HTTPStatus { HTTPStatus(404) }
    package static var methodNotAllowed: HTTPStatus { HTTPStatus(405) }
    package static var requestTimeout: HTTPStatus { HTTPStatus(408) }
    package static var conflict: HTTPStatus { HTTPStatus(409) }
    package static var gone: HTTPStatus { HTTPStatus(410) }
    package static var contentTooLarge: HTTPStatus { HTTPStatus(413) }
    package static var targetTooLong: HTTPStatus { HTTPStatus(414) }
    package static var unsupportedMediaType: HTTPStatus { HTTPStatus(415) }
    package static var rangeNotSatisfiable: HTTPStatus { HTTPStatus(416) }
    package static var expectationFailed: HTTPStatus { HTTPStatus(417) }
    package static var misdirectedRequest: HTTPStatus { HTTPStatus(421) }
    package static var headTooLarge: HTTPStatus { HTTPStatus(431) }
    package static var internalServerError: HTTPStatus { HTTPStatus(500) }
    package static var notImplemented: HTTPStatus { HTTPStatus(501) }
    package static var badGateway: HTTPStatus { HTTPStatus(502) }
    package static var serviceUnavailable: HTTPStatus { HTTPStatus(503) }
    package static var gatewayTimeout: HTTPStatus { HTTPStatus(504) }
    package static var versionNotSupported: HTTPStatus { HTTPStatus(505) }
    package static var insufficientStorage: HTTPStatus { HTTPStatus(507) }
}
