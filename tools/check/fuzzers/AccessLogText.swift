// sources: Sources/AccessLog/LogErasure.swift
/// Only whole events that have the mark are deleted from a log, and none of them is left.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let mark = Array("/a/f/".utf8)
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    for text in [bytes, Array("#Remark: /a/f/".utf8) + bytes] {
        text.withUnsafeBytes { raw in
            let log = LogText(raw)
            let ranges = log.events(with: mark, before: .max)
            for range in ranges {
                precondition(
                    range.lowerBound == 0 || raw[range.lowerBound - 1] == UInt8(ascii: "\n"), "a part of a line")
                precondition(raw[range].starts(with: "#Remark: ".utf8) && range.upperBound <= raw.count)
            }
            precondition(
                zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound }, "ranges out of order")
            let kept = log.without(ranges)
            precondition(kept.count == raw.count - ranges.reduce(0) { $0 + $1.count })
            kept.withUnsafeBytes {
                precondition(LogText($0).events(with: mark, before: .max).isEmpty, "an event is left")
            }
            let half = log.events(with: mark, before: raw.count / 2)
            precondition(half.allSatisfy { $0.lowerBound < raw.count / 2 })
        }
    }
    return 0
}
