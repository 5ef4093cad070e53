import EventLoop
import HTTPMessage

/// A handler of the user in place of an origin.
extension Transfer {
    /// Runs the handler of the request, and goes on with its answer.
    func askHandler(_ attempt: TransferState.Attempt) {
        let request = request
        // The request's own limit is for the origin.
        if request.deadline != nil {
            deadline?.schedule(after: Self.handlerLimit)
        }
        handling = Task {
            let answer = await client.handlers?.answer(request.url, isUsers: request.isUsers)
            guard receiver != nil else { return }
            if let bound = request.deadline {
                deadline?.schedule(after: bound)
            }
            switch answer {
            case .content(let content, let terms)?:
                self.terms = terms
                receive(content, attempt)
            case .location(let url, let terms)?:
                guard !url.needsHandler else { return endHandling("it names a URL that is neither http nor https") }
                var terms = terms
                terms.url = url
                self.terms = terms
                isLocated = true
                perform(state.located(at: url, terms))
            case .failure(let reason)?: endHandling(reason)
            case nil: endHandling("it was removed")
            }
        }
    }

    /// Forgets the URL of a handler's answer after a failure there. If the answer was an earlier one, the handler is asked
    /// again, and the result is true: the URL may have expired.
    func isLocatedAgain(after error: OriginError, _ attempt: TransferState.Attempt) -> Bool {
        guard let terms, terms.url != nil, receiver != nil, error.code != .cancelled else { return false }
        client.handlers?.forget(request.url, isUsers: request.isUsers)
        guard terms.isRemembered, state.position == 0 else { return false }
        self.terms = nil
        askHandler(attempt)
        return true
    }

    /// Limit on a handler, with the wait for others.
    private static let handlerLimit = Duration.seconds(60)

    private func endHandling(_ reason: String) {
        end(OriginError(.handlerFailed, url: request.url, underlying: reason))
    }

    /// Delivers what a handler gave as if an origin had sent it.
    private func receive(_ content: [UInt8], _ attempt: TransferState.Attempt) {
        let range = attempt.range
        var part = 0..<Int64(content.count)
        if let range {
            part = Reply.part(range, of: part.upperBound) ?? 0..<0
        }
        if case .deliver(let head) = state.received(Reply(of: content, range: range)) {
            if let head {
                deliver(head)
            }
            content[Int(part.lowerBound)..<Int(part.upperBound)].withUnsafeBytes { bytes in
                if case .at(let offset) = state.received(byteCount: bytes.count, now: .now) {
                    _ = deliver(bytes, at: offset)
                }
            }
        }
        if receiver != nil {
            attemptEnded(.finished)
        }
    }
}
