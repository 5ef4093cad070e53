import EventLoop
import HTTPMessage
public import HTTPServer

extension ControlRoutes {
    /// Answers a request to the API, later; false if it is none.
    public func handle(_ exchange: Exchange) -> Bool {
        let head = exchange.head
        let path = head.path
        guard Self.owns(path: path) else { return false }
        let request = ControlRequest(
            head.method, path, query: head.query, authorization: head[.authorization], contentType: head[.contentType],
            body: exchange.body)
        Task { @LoopActor in Self.send(await respond(to: request), to: exchange) }
        return true
    }

    private static func send(_ response: ControlResponse, to exchange: Exchange) {
        var head = ResponseHead(response.status)
        if response.isProblem {
            head.append(.contentType, literal: "application/problem+json")
        } else {
            head.append(.json)
        }
        head.append(.cacheControl, literal: "no-store")
        // Routes name their own methods: nothing in them can break out of a field.
        if let allow = response.allow { try? head.append(.allow, allow) }
        exchange.reply(head, .bytes(response.body))
    }
}
