import HTTPMessage

/// Takes requests off the bytes of one connection, head and body together. Pure: bytes in, steps out.
struct RequestReader {
    /// What the bytes amount to.
    enum Step {
        /// Not a whole request yet.
        case incomplete
        /// As `incomplete`, and the client waits for "100 Continue" before it goes on; reported once.
        case incompleteUntilContinue
        /// A request, `length` bytes from the first byte to the last of its body, which begins behind the head.
        case request(RequestHead, length: Int)
        /// Not a request that can be answered otherwise; nothing behind it can be trusted.
        case refused(RequestHeadError)
    }

    private let limits: RequestLimits
    private var parser: RequestHeadParser
    private var head: RequestHead?

    init(limits: RequestLimits) {
        self.limits = limits
        parser = RequestHeadParser(limits: limits)
    }

    /// Whether some of a request, but not all, has been seen.
    var isInside: Bool { head != nil || !parser.isEmpty }
    /// Whether a head has been seen whose body is not all there.
    var awaitsBody: Bool { head != nil }

    /// `bytes` begins where the last request ended and holds everything that has come since.
    mutating func step(_ bytes: UnsafeRawBufferPointer) -> Step {
        var isNew = false
        if head == nil {
            do throws(RequestHeadError) {
                head = try parser.parse(bytes)
            } catch {
                return .refused(error)
            }
            isNew = true
        }
        guard let head else { return .incomplete }
        let length = head.byteCount + Int(head.contentLength ?? 0)
        guard bytes.count >= length else {
            return isNew && head.expectsContinue && head.version == .http11 && bytes.count == head.byteCount
                ? .incompleteUntilContinue : .incomplete
        }
        self.head = nil
        parser = RequestHeadParser(limits: limits)
        return .request(head, length: length)
    }
}
