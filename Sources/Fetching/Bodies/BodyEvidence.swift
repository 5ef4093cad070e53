import Origin

/// The evidence for and against the bytes of a resource, over all requests for them. Pure.
struct BodyEvidence {
    /// The answer to a body that is empty, or ends inside its media.
    enum CutVerdict: Equatable {
        /// Request it once more: the second body is compared with the first one, and continued behind it.
        case repeated
        /// It ends there, however odd that is: two responses have shown the same end.
        case accepted
        case refused
    }

    /// The number of bytes at which the free space is checked again.
    var nextRoomCheck = roomCheckStep
    static let roomCheckStep: Int64 = 64 << 20
    /// False once something speaks against the bytes.
    var isSound = true
    /// True if the body was requested once more, because it seemed to end too early.
    private(set) var isRepeated = false
    /// The length by which the first body ended, if it was stated.
    private var statedEnd: Int64?
    /// True if enough of the first bytes were checked together.
    var isBeginningChecked = false

    /// Judges a body of so many bytes that is empty, or ends inside its media. A stated length is right if it is stated twice, and
    /// nothing follows it.
    mutating func judgeCut(at written: Int64, by response: ResponseRecord) -> CutVerdict {
        guard isRepeated else {
            isRepeated = true
            statedEnd = nil
            if response.end != .connection {
                statedEnd = written
            }
            return .repeated
        }
        let hasAgreed = response.statedLength ?? written == written
        guard statedEnd == written, hasAgreed else {
            isSound = false
            return .refused
        }
        return .accepted
    }

    static func contradicts(_ code: OriginError.Code) -> Bool {
        switch code {
        case .contentChanged, .rangeIgnored, .wrongRange, .tooLarge, .malformedReply: true
        default: false
        }
    }
}
