import AccessLog
import Glibc
import Orders
import SafeText

/// An order with numbers from the edges of what a double or an integer holds, or of any other text, is refused or has numbers within
/// their bounds, and is written so that it reads as the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var rest = UnsafeBufferPointer(start: data, count: count)[...]
    var members: [String] = []
    while let key = rest.popFirst(), members.count < 24 {
        let value = rest.popFirst() ?? 0
        let index = Int(value) % (edges.count + 1)
        // Digits and signs of the input's own.
        let own = rest.prefix(24).prefix { "0123456789+-.eE".utf8.contains($0) }
        var text = edges.first ?? ""
        if index < edges.count {
            text = edges[index]
        } else {
            text = String(decoding: own, as: UTF8.self)
            rest = rest.dropFirst(own.count + 1)
        }
        let name = keys[Int(key) % keys.count]
        members.append("\"\(name)\":\(inLists.contains(name) ? "[\(text),\(edges[Int(value) % edges.count])]" : text)")
    }
    let text = Array("{\"at\":\"20:15\",\"isStalled\":false,\"path\":\"/a\",\(members.joined(separator: ","))}".utf8)
    check(DownloadOrder.self, text) { order in
        _ = order.contradiction
        if let range = order.range {
            bound(range.start)
            precondition(
                range.seconds.lowerBound < range.seconds.upperBound && range.seconds.upperBound <= Seconds.largest)
        }
    }
    check(StoragePolicy.self, text) { policy in
        guard policy.contradiction == nil else { return }
        for played in [nil, 0, 1 << 50] as [Int64?] {
            precondition(policy.expiration(firstPlayed: played) ?? 0 >= 0, "a time before all times")
        }
    }
    check(PlayerReport.self, text) { report in
        bound(report.playhead, report.stallTime, report.startup ?? 0)
        bound(report.rate)
        guard report.keyOutOfRange == nil else { return }
        precondition(report.playhead <= PlayerReport.longest && report.rate <= PlayerReport.fastest)
    }
    check(API.CacheRequest.self, text) { bound($0.seconds) }
    check(API.AttachRequest.self, text) { bound($0.interval ?? 0) }
    check(API.RecordingTimes.self, text) { _ in }
    check(LinkChange.self, text) { bound($0.loss ?? 0) }
    return 0
}

private let edges = [
    "0", "-0", "0.0", "-0.0", "1", "-1", "0.1", "1e-300", "5e-324", "1e-400", "2.2250738585072011e-308", "1e15", "1e16",
    "9007199254740991", "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "18446744073709551615", "18446744073709551616", "9.223372036854775807e18", "1e18", "1e19", "1e300",
    "1.7976931348623157e308", "1e309", "-1e309", "999999999.9999999", "1000000000", "1000000000.0000001",
    "253402300799", "253402300800", "253402300799.9999", "4e7", "40000000.00000001", "16", "16.000000000000004", "null",
    "true", "\"1e3\"", "4294967295", "4294967296", "2147483648", "0.30000000000000004", "1E+2", "1e+308",
]

private let inLists: Set = ["range"]

private let keys = [
    "range", "recordSeconds", "record", "expires", "afterFirstPlay", "keysExpire", "keysAfterFirstPlay", "playhead",
    "rate",
    "stalls", "stallTime", "framesDropped", "startup", "seconds", "interval", "early", "late", "loss", "down", "up",
    "delayDown", "delayUp", "dnsDelay", "paused", "min-bitrate", "min-size",
]

private func bound(_ times: Seconds...) {
    precondition(times.allSatisfy { (0...Seconds.largest).contains($0.value) }, "a time beyond thirty years")
}

private func bound(_ ratio: Ratio) {
    precondition((0...Ratio.largest).contains(ratio.value), "a ratio beyond its bound")
}

/// Reads a shape, and writes it twice with the same text.
private func check<Shape: Codable>(_ shape: Shape.Type, _ text: [UInt8], _ isBounded: (Shape) -> Void) {
    guard let value = try? API.decode(shape, from: text) else { return }
    isBounded(value)
    guard let written = try? API.encode(value), let again = try? API.decode(shape, from: written) else {
        preconditionFailure("\(shape) cannot be read as it is written")
    }
    precondition((try? API.encode(again)) == written, "\(shape) reads as another")
}
