/// A Retry-After field value (RFC 9110 §10.2.3).
public enum RetryAfter: Sendable, Hashable {
    /// Whole seconds from the response's arrival.
    case seconds(Int64)
    /// Not before this time by the origin's clock.
    case date(HTTPDate)

    /// Parses a field value; nil for anything but a number or a date.
    public init?(_ value: some StringProtocol) {
        if let seconds = ByteClass.number(value.utf8) {
            self = .seconds(seconds)
        } else if let date = HTTPDate(value) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// Seconds to wait from `now`; 0 for a date in the past. Pass the same response's Date as `now`.
    public func delay(from now: HTTPDate) -> Int64 {
        switch self {
        case .seconds(let seconds): seconds
        case .date(let date): max(0, date.secondsSinceEpoch - now.secondsSinceEpoch)
        }
    }
}
