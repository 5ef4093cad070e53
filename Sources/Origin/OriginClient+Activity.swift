extension OriginClient {
    /// What was asked of origins since the start.
    public struct Activity: Sendable {
        /// Requests on the wire, each try and each redirect counted.
        public internal(set) var requests = 0
        private var counts: [OriginError.Code?: Int] = [:]

        /// How many transfers ended how: `success`, or the code of the error. All that there are, in one order.
        public var outcomes: [(String, Int)] {
            [("success", counts[nil] ?? 0)] + OriginError.Code.allCases.map { ($0.rawValue, counts[$0] ?? 0) }
        }

        mutating func ended(_ code: OriginError.Code?) { counts[code, default: 0] += 1 }
    }
}
