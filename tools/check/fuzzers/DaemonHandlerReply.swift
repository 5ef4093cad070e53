// sources: Sources/Daemon/Handlers/HandlerReply.swift
import Glibc
import HTTPMessage
import Origin
import SafeText

/// The answer in a handler's output has a URL of http or https, fields that can be sent, a short title and a date that exists; what is
/// no JSON object is the resource itself, byte for byte.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    check(bytes)
    let openings = [
        #"{"url":"https://h/"#, #"{"url":""#, #"{"content":""#, #"{"url":"https://h/","headers":{"X-A":""#,
        #"{"url":"https://h/","headers":{""#, #"{"url":"https://h/","title":""#, #"{"error":""#,
    ]
    for opening in openings {
        let end = opening.contains("headers") ? (opening.contains("X-A") ? "\"}}" : "\":\"v\"}}") : "\"}"
        check(Array(opening.utf8) + bytes + Array(end.utf8))
    }
    for opening in [#"{"url":"https://h/","expires":"#, #"{"content":"QQ==","expires":"#] {
        check(Array(opening.utf8) + bytes + Array("}".utf8))
        check(Array("\(opening)\"".utf8) + bytes + Array("\"}".utf8))
    }
    return 0
}

private func check(_ output: [UInt8]) {
    let isObject = output.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{")
    switch HandlerReply.answer(output) {
    case .failure(let reason):
        precondition(!reason.isEmpty && (isObject || output.isEmpty), "a resource that is refused")
        precondition(reason.count <= 400, "a reason without an end")
    case .content(let content, let terms):
        precondition(!content.isEmpty && (isObject || content == output), "another resource")
        check(terms)
    case .location(let url, let terms):
        precondition(isObject && (url.text.hasPrefix("http://") || url.text.hasPrefix("https://")), "another scheme")
        precondition(url.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(url.text) breaks a request line")
        precondition((try? WebURL(url.text)) == url, "\(url.text) is read differently")
        check(terms)
    }
}

private func check(_ terms: HandlerTerms) {
    if let title = terms.title {
        precondition((1...200).contains(title.count), "a title without an end")
    }
    if let expires = terms.expires {
        precondition((0...Moment.largest).contains(expires), "a date that does not exist")
    }
    for text in terms.fields.texts {
        precondition(text.utf8.allSatisfy { $0 != 0x0D && $0 != 0x0A && $0 != 0 }, "a field with line breaks")
    }
    let isOwn = { (line: FieldLine) in OriginRequest.ownFields.contains { line.isNamed($0) } }
    precondition(!terms.fields.lines.contains(where: isOwn), "a field of Weir's own")
    precondition(terms.fields.lines.allSatisfy { FieldLine("\($0.name): \($0.value)".utf8) == $0 }, "no field")
}
