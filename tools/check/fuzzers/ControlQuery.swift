// sources: Sources/Control/ControlQuery.swift
import AccessLog
import Glibc
import HTTPMessage
import SafeText
import WeirAPI

/// A query is read as a plain second reading has it; its numbers are within their bounds, and what the API's client writes of them reads
/// as the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    let known = ["asset", "session", "since", "limit", "after", "brief", ""]
    let values = ["since=", "limit=", "brief=", "asset="].map { $0 + text }
    for query in [text] + values + ["limit=5&asset=\(text)&brief=1"] {
        let read = try? ControlQuery(query, knowing: known)
        let plain = plain(query, known)
        precondition((read == nil) == (plain == nil), "a plain reading differs")
        guard let read, let plain else { continue }
        precondition(known.allSatisfy { read[$0] == plain[$0] }, "other values")
        check(read)
    }
    return 0
}

private func check(_ query: ControlQuery) {
    if let count = try? query.count("limit", upTo: 50) {
        precondition((1...50).contains(count) && Int(query["limit"] ?? "") == count)
    }
    if let moment = try? query.moment("since") {
        precondition((0...Moment.largest).contains(moment.value), "a moment without a date")
    }
    if let flag = try? query.flag("brief") {
        precondition(query["brief"] == (flag ? "1" : "0"))
    }
    if let assets = try? API.AssetQuery(query) {
        precondition(assets.limit ?? 1 >= 1 && assets.after == query["after"])
    }
    guard let log = try? LogQuery(query) else { return }
    precondition((1...100_000).contains(log.limit))
    guard let written = try? ControlQuery(String(log.text.dropFirst()), knowing: LogQuery.keys),
        let again = try? LogQuery(written)
    else { preconditionFailure("\(log.text) cannot be read") }
    precondition(again.text == log.text && again.asset == log.asset && again.session == log.session, "another query")
}

/// The values of the keys; nil for a query that is refused.
private func plain(_ query: String, _ known: [String]) -> [String: String]? {
    var values: [String: String] = [:]
    for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
        let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard let key = decoded(Array(parts[0])), let value = decoded(Array(parts.dropFirst().joined())),
            known.contains(key), values[key] == nil
        else { return nil }
        values[key] = value
    }
    return values
}

private func decoded(_ text: [UInt8]) -> String? {
    var bytes: [UInt8] = []
    var rest = text[...]
    while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
            bytes.append(byte)
            continue
        }
        let digits = rest.prefix(2)
        guard digits.count == 2, digits.allSatisfy({ isxdigit(CInt($0)) != 0 }),
            let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
        else { return nil }
        bytes.append(value)
        rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
}
