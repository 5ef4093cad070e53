/// A response's status code (RFC 9110 §15) with its reason phrase.
public struct HTTPStatus: Sendable, Hashable {
    /// Three digits, 100–599.
    public let code: Int

    /// Wraps any code, for instance an origin's. Codes outside 100–599 become 500.
    public init(_ code: Int) {
        self.code = (100...599).contains(code) ? code : 500
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
        case 431: "Request Header Fields Too Large"
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
}

/// The codes that Weir itself sends.
extension HTTPStatus {
    /// 200.
    public static var ok: HTTPStatus { HTTPStatus(200) }
    /// 201.
    public static var created: HTTPStatus { HTTPStatus(201) }
    /// 202.
    public static var accepted: HTTPStatus { HTTPStatus(202) }
    /// 204.
    public static var noContent: HTTPStatus { HTTPStatus(204) }
    /// 206.
    public static var partialContent: HTTPStatus { HTTPStatus(206) }
    /// 304.
    public static var notModified: HTTPStatus { HTTPStatus(304) }
    /// 400.
    public static var badRequest: HTTPStatus { HTTPStatus(400) }
    /// 401.
    public static var unauthorized: HTTPStatus { HTTPStatus(401) }
    /// 403.
    public static var forbidden: HTTPStatus { HTTPStatus(403) }
    /// 404.
    public static var notFound: HTTPStatus { HTTPStatus(404) }
    /// 405.
    public static var methodNotAllowed: HTTPStatus { HTTPStatus(405) }
    /// 408.
    public static var requestTimeout: HTTPStatus { HTTPStatus(408) }
    /// 409.
    public static var conflict: HTTPStatus { HTTPStatus(409) }
    /// 410.
    public static var gone: HTTPStatus { HTTPStatus(410) }
    /// 413.
    public static var contentTooLarge: HTTPStatus { HTTPStatus(413) }
    /// 414.
    public static var targetTooLong: HTTPStatus { HTTPStatus(414) }
    /// 415.
    public static var unsupportedMediaType: HTTPStatus { HTTPStatus(415) }
    /// 416.
    public static var rangeNotSatisfiable: HTTPStatus { HTTPStatus(416) }
    /// 417.
    public static var expectationFailed: HTTPStatus { HTTPStatus(417) }
    /// 421.
    public static var misdirectedRequest: HTTPStatus { HTTPStatus(421) }
    /// 431.
    public static var headTooLarge: HTTPStatus { HTTPStatus(431) }
    /// 500.
    public static var internalServerError: HTTPStatus { HTTPStatus(500) }
    /// 501.
    public static var notImplemented: HTTPStatus { HTTPStatus(501) }
    /// 502.
    public static var badGateway: HTTPStatus { HTTPStatus(502) }
    /// 503.
    public static var serviceUnavailable: HTTPStatus { HTTPStatus(503) }
    /// 504.
    public static var gatewayTimeout: HTTPStatus { HTTPStatus(504) }
    /// 505.
    public static var versionNotSupported: HTTPStatus { HTTPStatus(505) }
    /// 507.
    public static var insufficientStorage: HTTPStatus { HTTPStatus(507) }
}
