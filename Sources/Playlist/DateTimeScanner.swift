/// The parts of an ISO 8601 date and time, read from left to right.
struct DateTimeScanner {
    /// The text.
    let bytes: [UInt8]
    private var position = 0

    /// Starts at the first byte.
    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Whether everything is read.
    var isAtEnd: Bool { position == bytes.count }

    /// Passes over one byte if it is one of those.
    mutating func skip(_ bytes: String) -> Bool {
        guard position < self.bytes.count, bytes.utf8.contains(self.bytes[position]) else { return false }
        position += 1
        return true
    }

    /// `2026-01-31` as days since 1970-01-01.
    mutating func date() -> Int? {
        guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let days = DateTime.days(year, month, day)
        return DateTime.civil(days) == (year, month, day) ? days : nil
    }

    /// `10:20:30.123` in milliseconds; a leap second counts as the one after.
    mutating func time() -> Int? {
        guard let hours = number(2), skip(":"), let minutes = number(2), skip(":"), let seconds = number(2),
            hours < 24, minutes < 60, seconds <= 60
        else { return nil }
        let whole = ((hours * 60 + minutes) * 60 + seconds) * 1000
        guard skip(".,") else { return whole }
        return fraction().map { whole + $0 }
    }

    /// `Z`, `+01:00`, `-0130`, `+01` or nothing, in minutes.
    mutating func zone() -> Int? {
        if isAtEnd || skip("Zz") { return 0 }
        let isWest = position < bytes.count && bytes[position] == UInt8(ascii: "-")
        guard skip("+-"), let hours = number(2), hours < 24 else { return nil }
        if isAtEnd { return (isWest ? -60 : 60) * hours }
        _ = skip(":")
        guard let minutes = number(2), minutes < 60 else { return nil }
        return (isWest ? -1 : 1) * (hours * 60 + minutes)
    }

    private mutating func number(_ digits: Int) -> Int? {
        guard position + digits <= bytes.count else { return nil }
        defer { position += digits }
        return bytes.decimalInteger(position..<position + digits)
    }

    /// The first three digits of a fraction; at least one must be there.
    private mutating func fraction() -> Int? {
        var (value, unit, count) = (0, 100, 0)
        while position < bytes.count, bytes[position].isDigit {
            value += Int(bytes[position] - 0x30) * unit
            unit /= 10
            count += 1
            position += 1
        }
        return count > 0 ? value : nil
    }
}
