import HTTPMessage

/// Answers to OPTIONS: what is allowed here, and to pages of listed origins what they may ask (Fetch §3.2.2).
enum Preflight {
    private static let requestMethod = FieldName("Access-Control-Request-Method")

    private static let requestPrivateNetwork = FieldName("Access-Control-Request-Private-Network")

    static func answer(to head: RequestHead, isListed: Bool) -> ResponseHead {
        var answer = ResponseHead(.noContent)
        answer.append(.allow, literal: "GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE")
        guard isListed, head.contains(requestMethod) else { return answer }
        answer.append(
            FieldName("Access-Control-Allow-Methods"), literal: "GET, HEAD, POST, PUT, PATCH, DELETE")
        answer.append(
            FieldName("Access-Control-Allow-Headers"),
            literal: """
                Authorization, CMCD-Object, CMCD-Request, CMCD-Session, CMCD-Status, Cache-Control, Content-Type, \
                If-None-Match, If-Range, Range
                """)
        // Chromium wants to hear it where a page of the internet asks a loopback address.
        if head.contains(requestPrivateNetwork) {
            answer.append(FieldName("Access-Control-Allow-Private-Network"), literal: "true")
        }
        answer.append(FieldName("Access-Control-Max-Age"), number: 600)
        return answer
    }
}
