import HTTPMessage

/// Parses requests, head and body, from the bytes of one connection. Pure: bytes in, steps out.
struct RequestReader {
    enum Step {
        case incomplete
        /// As `incomplete`, and the client waits for "100 Continue". Reported once.
        case incompleteUntilContinue
        case request(RequestHead, length: Int)
        /// An invalid request, with its head if that was valid. Nothing after it can be trusted.
        case refused(RequestHeadError, RequestHead?)
    }

    private var limits: RequestLimits
    private let usualBody: Int64
    private let policy: (any RequestPolicy)?
    private var parser: RequestHeadParser
    private var head: RequestHead?

    /// - Parameter longBody: longest body of a request to which the policy admits a long one.
    init(limits: RequestLimits, longBody: Int64 = 0, policy: (any RequestPolicy)? = nil) {
        usualBody = limits.body
        self.policy = policy
        self.limits = limits
        self.limits.body = max(limits.body, longBody)
        parser = RequestHeadParser(limits: self.limits)
    }

    /// True if a request has begun and is incomplete.
    var isInside: Bool { head != nil || !parser.isEmpty }
    /// True if a head was parsed and its body is incomplete.
    var awaitsBody: Bool { head != nil }

    /// Parses the next request. `bytes` begins at the end of the last request and contains everything received since.
    mutating func step(_ bytes: UnsafeRawBufferPointer) -> Step {
        if let head {
            let length = Self.length(head)
            guard bytes.count >= length else { return .incomplete }
            self.head = nil
            return .request(head, length: length)
        }
        do throws(RequestHeadError) {
            guard let head = try parser.parse(bytes) else { return .incomplete }
            parser = RequestHeadParser(limits: limits)
            let bodyLength = head.contentLength ?? 0
            if bodyLength > usualBody {
                guard let policy, policy.admitsLongBody(head) else { return .refused(.bodyTooLarge, head) }
            }
            let length = Self.length(head)
            if bytes.count >= length {
                return .request(head, length: length)
            }
            let waits = head.expectsContinue && head.version == .http11 && bytes.count == head.byteCount
            self.head = head
            guard waits else { return .incomplete }
            return .incompleteUntilContinue
        } catch {
            return .refused(error, nil)
        }
    }

    private static func length(_ head: RequestHead) -> Int { head.byteCount + Int(head.contentLength ?? 0) }
}
