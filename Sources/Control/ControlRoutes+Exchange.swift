import API
import EventLoop
public import HTTPMessage
public import HTTPServer

extension ControlRoutes {
    /// Answers a request to the API, later; false if it is none.
    public func handle(_ exchange: Exchange) -> Bool {
        let head = exchange.head
        let path = head.path
        guard Self.owns(path: path) else { return false }
        let request = ControlRequest(
            head.method, path, query: head.query, authorization: head[.authorization], contentType: head[.contentType],
            lastEventID: head[FieldName("Last-Event-ID")], body: exchange.body)
        Task { @LoopActor in
            let response = await respond(to: request)
            if let events = response.events {
                exchange.reply(response.head, .feed(events))
            } else {
                exchange.reply(response.head, .bytes(response.body))
            }
        }
        return true
    }
}

extension ControlRoutes {
    /// What a client of the API is told that is refused before it could be asked for its token: a problem; nil for a
    /// request that is none to the API.
    public nonisolated static func refusal(
        of head: RequestHead, _ status: HTTPStatus, _ sentence: String
    ) -> (fields: ResponseHead, body: [UInt8])? {
        guard owns(path: head.path) else { return nil }
        let code: APIError.Code? = [421: .misdirected, 403: .foreignPage, 413: .tooLarge][status.code]
        // A problem has a sentence without a capital or a full stop.
        let detail = sentence.prefix(1).lowercased() + sentence.dropFirst().prefix { $0 != "." }
        let response = problem(APIError(code ?? .badRequest, detail))
        return (response.head, response.body)
    }
}

extension ControlResponse {
    /// The head of the HTTP response; no cache keeps an answer of the API.
    var head: ResponseHead {
        var head = ResponseHead(status)
        if isProblem {
            head.append(.contentType, literal: "application/problem+json")
        } else if events != nil {
            head.append(.contentType, literal: "text/event-stream")
        } else if let mediaType {
            // One of few words of ours.
            try? head.append(.contentType, mediaType)
        } else {
            head.append(.json)
        }
        head.append(.cacheControl, literal: "no-store")
        if status == .unauthorized { head.append(FieldName("WWW-Authenticate"), literal: "Bearer") }
        // Routes name their own methods: nothing in them can break out of a field.
        if let allow { try? head.append(.allow, allow) }
        return head
    }
}
