import HTTPMessage

/// What goes in and what comes out of the state.
extension TransferState {
    /// One request on the wire.
    struct Attempt: Equatable {
        let url: WebURL
        /// The first byte to ask for and the last; nil for no Range, a nil last for all that follows.
        var range: (first: Int64, last: Int64?)?
        var ifRange: StrongValidator?

        /// The value of the Range field.
        var rangeValue: String? { range.map { "bytes=\($0.first)-\($0.last.map(String.init) ?? "")" } }

        static func == (left: Attempt, right: Attempt) -> Bool {
            (left.url, left.rangeValue, left.ifRange) == (right.url, right.rangeValue, right.ifRange)
        }
    }

    /// What to do when no request is on the wire.
    enum Action: Equatable {
        /// Make this request.
        case ask(Attempt)
        /// Call `pauseEnded()` after so long.
        case wait(Duration)
        /// The transfer has ended; nil is success.
        case end(OriginError?)
    }

    /// What to do with a head.
    enum Reaction {
        /// Pass it on, unless one was passed on before, and the body after it.
        case deliver(OriginHead?)
        /// Let the body run out unread, to keep the connection.
        case skip
        /// Break the request off.
        case stop
    }

    /// What to do with bytes of the body.
    enum Delivery: Equatable {
        /// Pass them on; they belong here.
        case at(Int64)
        /// Drop them.
        case skip
        /// Break the request off.
        case stop
    }

    /// How a request ended.
    enum Outcome {
        /// As HTTP has it.
        case finished
        /// By the shell, as an answer of this state told it to.
        case stopped
        /// In the middle, or before a reply.
        case failed(Failure)
    }

    /// Why a request failed below HTTP.
    struct Failure: Equatable {
        var code: OriginError.Code
        var underlying: String?
        var isTransient = true
    }
}
