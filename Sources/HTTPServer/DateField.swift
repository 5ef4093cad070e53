import Glibc
import HTTPMessage

/// The Date field's line (RFC 9110 §6.6.1), written once a second.
struct DateField {
    private var second = -1
    private(set) var line: [UInt8] = []

    /// Brings the line up to date; cheap while the second is the same.
    mutating func refresh() {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &now)
        guard now.tv_sec != second else { return }
        second = now.tv_sec
        line.removeAll(keepingCapacity: true)
        line.append(contentsOf: "Date: ".utf8)
        HTTPDate(secondsSinceEpoch: Int64(second)).append(to: &line)
        line.append(contentsOf: "\r\n".utf8)
    }
}
