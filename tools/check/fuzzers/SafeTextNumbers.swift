/// Numbers from outside are within their bounds, whatever the text or the double is: what is computed from them cannot trap.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    let text = String(decoding: bytes, as: UTF8.self)
    if let seconds = Seconds(decimal: text[...]) {
        check(seconds)
    }
    if let ratio = Ratio(decimal: text[...]) {
        precondition((0...Ratio.largest).contains(ratio.value))
    }
    for start in stride(from: 0, to: min(bytes.count, 1024) - 7, by: 8) {
        let pattern = bytes[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let number = Double(bitPattern: pattern)
        check(Seconds(clamping: number))
        precondition((0...Ratio.largest).contains(Ratio(clamping: number).value))
        let moment = Moment(clamping: number).value
        precondition((0...Moment.largest).contains(moment), "a moment without a date")
        if let seconds = Seconds(number) {
            precondition(seconds.value == min(number, Seconds.largest))
        }
    }
    return 0
}

private func check(_ seconds: Seconds) {
    precondition((0...Seconds.largest).contains(seconds.value), "seconds beyond thirty years")
    precondition(seconds.milliseconds >= 0)
    let nanoseconds = Int64(seconds.value * 1e9)
    precondition(nanoseconds >= 0)
}
