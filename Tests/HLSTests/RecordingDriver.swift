@testable import HLS

/// Drives a recording as `Library` does, with all pieces available at once.
struct RecordingDriver {
    var numbering = LiveNumbering(isRecorded: true)
    var writer: RecordingWriter?
    var text: [UInt8] = []
    /// Numbers of unavailable segments.
    var lost: Set<Int> = []

    init() {}

    /// Restores the recording of a killed process.
    init(restoring text: [UInt8]) throws {
        self.text = Array(text.prefix(RecordedText.intactLength(of: text)))
        guard !self.text.isEmpty else { return }
        let recorded = try Fixtures.media(String(decoding: self.text, as: UTF8.self))
        numbering = LiveNumbering(behind: recorded, shift: RecordedText.shift(of: recorded))
        writer = RecordingWriter(behind: recorded)
    }

    mutating func add(_ text: String) throws { try add(try Fixtures.media(text)) }

    mutating func add(_ window: MediaPlaylist) throws {
        for (place, entry) in numbering.accept(window).enumerated() {
            var writer = self.writer ?? RecordingWriter(beginning: window)
            if self.writer == nil {
                text += writer.header(of: window)
            }
            if place == 0 {
                text += try writer.dateRanges(of: window) { _ in "https://origin.example/ad" }
            }
            switch entry {
            case .missed(let missed): text += try writer.missed(missed) { "\($0).ts" }
            case .segment(let segment, let number, let isRestart):
                let isGap = segment.isGap || lost.contains(number)
                text += try writer.segment(segment, number: number, isRestart: isRestart, isGap: isGap) { reference in
                    switch reference {
                    case .segment: "\(number).ts"
                    case .map(let map): "init-\(map.uri.prefix { $0 != "." }).mp4"
                    case .key(let key): key.isFetchable ? "../keys/\(key.uri)" : nil
                    default: nil
                    }
                }
            }
            text = writer.raised(text, for: window) ?? text
            self.writer = writer
        }
    }

    mutating func end() { text += writer?.end ?? [] }

    func playlist() throws -> MediaPlaylist { try Fixtures.media(String(decoding: text, as: UTF8.self)) }
}
