// sources: Sources/Sharing/XMLElement.swift
/// The XML of a package is read or refused, however deep it is, and has no more elements than bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    for opening in ["", "<HLSMoviePackage><Streams><Stream ID=\"0\" Path=\""] {
        guard let root = XMLElement(Array(opening.utf8) + bytes) else { continue }
        var waiting = [root]
        var elements = 0
        while let element = waiting.popLast() {
            elements += 1
            waiting += element.children
        }
        precondition(elements <= count + opening.utf8.count, "more elements than bytes")
    }
    return 0
}
