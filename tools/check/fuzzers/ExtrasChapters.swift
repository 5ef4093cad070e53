// sources: Sources/Extras/ChapterList.swift
/// Chapters are read or refused; their spans follow each other, and end within the film.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    for text in [bytes, Array(#"[{"start-time":"#.utf8) + bytes + Array("}]".utf8), Array("WEBVTT\n\n".utf8) + bytes] {
        guard let list = try? ChapterList(text) else { continue }
        precondition(!list.chapters.isEmpty)
        for length in [nil, 0, 12.5, 1e300] as [Double?] {
            for span in list.spans(length: length) {
                precondition(
                    span.start.seconds.isFinite && span.end.map { $0 >= span.start } ?? true,
                    "a chapter that ends first")
            }
            precondition(list.webVTT(length: length).starts(with: "WEBVTT".utf8))
            guard let again = try? ChapterList(list.json(language: nil, length: length)) else {
                preconditionFailure("JSON that cannot be read")
            }
            precondition(again.chapters.count == list.chapters.count)
        }
    }
    return 0
}
