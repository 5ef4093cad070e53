import Orders
import SafeText

extension MediaRange {
    /// A range that is not empty.
    init(_ seconds: Range<Double>) {
        let end = Seconds(clamping: seconds.upperBound)
        guard let range = Self(start: Seconds(clamping: seconds.lowerBound), end: end) else {
            preconditionFailure("\(seconds) is empty")
        }
        self = range
    }
}
