/// What a recording's text says of its own state, after the process that wrote it has ended at any instant.
public enum RecordedText {
    /// How many bytes at its beginning are whole: up to the last segment's line, or EXT-X-ENDLIST; 0 where not even one
    /// segment is. A power cut may leave half of a block, or zeros.
    public static func soundLength(of text: [UInt8]) -> Int {
        let written = text.firstIndex(of: 0) ?? text.count
        guard var end = text[..<written].lastIndex(of: 0x0A) else { return 0 }
        while true {
            let start = text[..<end].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
            let line = text[start..<end]
            if !line.isEmpty, line.first != UInt8(ascii: "#") || line.elementsEqual(Tag.endList.rawValue.utf8) {
                return end + 1
            }
            guard start > 0 else { return 0 }
            end = start - 1
        }
    }

    /// What the recording's numbers were above the origin's at its end.
    public static func shift(of recorded: MediaPlaylist) -> Int {
        let text = recorded.text
        for line in text.lines.indices.reversed() where text.lines[line].kind == .comment {
            let content = text.string(line)
            guard content.utf8.starts(with: RecordingWriter.shiftMark.utf8) else { continue }
            return Int(content.dropFirst(RecordingWriter.shiftMark.count)) ?? 0
        }
        return 0
    }
}
