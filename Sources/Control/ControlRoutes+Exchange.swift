import EventLoop
package import HTTPMessage
package import HTTPServer
import Playback
import WeirAPI

extension ControlRoutes {
    /// Answers an API request asynchronously. Returns false for a request that is not for the API.
    ///
    /// - Parameter phone: the identity of the phone whose token the request has shown; nil for a client of this machine.
    package func handle(_ exchange: Exchange, of phone: String? = nil) -> Bool {
        let head = exchange.head
        let path = head.path
        guard Self.owns(path: path) else { return false }
        var request = ControlRequest(
            head.method, path, query: head.query, authorization: head[.authorization], contentType: head[.contentType],
            lastEventID: head[FieldName("Last-Event-ID")], body: exchange.body)
        request.isFromOwner = exchange.isFromOwner
        request.phone = phone
        let isHandedIn = readsHandedInFiles(head.method, at: path)
        let task = Task { @LoopActor [request] in
            let response = await respond(to: request)
            if let events = response.events {
                exchange.reply(response.head, .feed(events))
            } else {
                exchange.reply(response.head, .bytes(response.body))
            }
        }
        // Work on a handed-in file is the client's alone, and ends with it. Other orders go on when it has left.
        if isHandedIn {
            exchange.whenEnded { _ in task.cancel() }
        }
        return true
    }

    /// The problem response to an API request that the server refuses before its token is checked; nil for other
    /// requests.
    package nonisolated func refusal(
        of head: RequestHead, _ status: HTTPStatus, _ sentence: String
    ) -> (fields: ResponseHead, body: [UInt8])? {
        guard Self.owns(path: head.path) else { return nil }
        let code: APIError.Code? = [421: .misdirected, 403: .foreignPage, 413: .tooLarge][status.code]
        // A problem's sentence has no capital and no full stop.
        let detail = sentence.prefix(1).lowercased() + sentence.dropFirst().prefix { $0 != "." }
        let response = Self.problem(APIError(code ?? .badRequest, detail))
        return (response.head, response.body)
    }
}

/// The rights of the users of this machine who are not the owner, without the token.
package enum OtherUsers: String, CaseIterable, Sendable {
    case nothing
    /// Play and open URLs, but neither list nor change anything.
    case play
}

extension ControlRoutes {
    private nonisolated static let refusalOfOtherUsers = """
        this Weir belongs to another user of this machine, who can admit more users with the keys users and other-users of \
        weir.toml
        """

    /// The answer to a request of a user who is not the owner. With a valid token it does not matter whose process sends it.
    package nonisolated func verdict(onOtherUsers head: RequestHead) -> OtherUserVerdict {
        if isToken(head[.authorization]) {
            return .admittedAsOwner
        }
        if otherUsers == .play, PlayerRoutes.isForPlayers(head.targetBytes) {
            return .admitted
        }
        guard !Self.owns(path: head.path) else {
            let response = Self.problem(APIError(.otherUser, Self.refusalOfOtherUsers))
            return .refused(head: response.head, body: response.body)
        }
        var reply = ResponseHead(.forbidden)
        reply.append(.text)
        let sentence = Self.refusalOfOtherUsers.prefix(1).uppercased() + Self.refusalOfOtherUsers.dropFirst()
        return .refused(head: reply, body: Array("\(sentence).\n".utf8))
    }
}

extension ControlResponse {
    /// The head of the HTTP response. API responses are never cached.
    var head: ResponseHead {
        var head = ResponseHead(status)
        if isProblem {
            head.append(.contentType, literal: "application/problem+json")
        } else if events != nil {
            head.append(.contentType, literal: "text/event-stream")
        } else if let mediaType {
            // The media type is one of a few constants.
            try? head.append(.contentType, mediaType)
        } else {
            head.append(.json)
        }
        head.append(.cacheControl, literal: "no-store")
        if status == .unauthorized {
            head.append(FieldName("WWW-Authenticate"), literal: "Bearer")
        }
        // Routes name their own methods, so no value can break out of the field.
        if let allow {
            try? head.append(.allow, allow)
        }
        return head
    }
}
