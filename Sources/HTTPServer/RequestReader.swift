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
        /// Not a request that can be answered otherwise; nothing behind it can be trusted. With its head, where that is one.
        case refused(RequestHeadError, RequestHead?)
    }

    private var limits: RequestLimits
    private let usualBody: Int64
    private let admitsLongBody: @Sendable (RequestHead) -> Bool
    private var parser: RequestHeadParser
    private var head: RequestHead?

    /// - Parameters:
    ///   - longBody: the longest body of a request that may have a long one.
    ///   - admitsLongBody: whether one with this head may.
    init(
        limits: RequestLimits, longBody: Int64 = 0,
        admitsLongBody: @escaping @Sendable (RequestHead) -> Bool = { _ in false }
    ) {
        usualBody = limits.body
        self.admitsLongBody = admitsLongBody
        self.limits = limits
        self.limits.body = max(limits.body, longBody)
        parser = RequestHeadParser(limits: self.limits)
    }

    /// Whether some of a request, but not all, has been seen.
    var isInside: Bool { head != nil || !parser.isEmpty }
    /// Whether a head has been seen whose body is not all there.
    var awaitsBody: Bool { head != nil }

    /// `bytes` begins where the last request ended and holds everything that has come since.
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
            guard (head.contentLength ?? 0) <= usualBody || admitsLongBody(head) else {
                return .refused(.bodyTooLarge, head)
            }
            let length = Self.length(head)
            if bytes.count >= length { return .request(head, length: length) }
            let waits = head.expectsContinue && head.version == .http11 && bytes.count == head.byteCount
            self.head = head
            return waits ? .incompleteUntilContinue : .incomplete
        } catch {
            return .refused(error, nil)
        }
    }

    private static func length(_ head: RequestHead) -> Int {
        head.byteCount + Int(head.contentLength ?? 0)
    }
}
