import HLS

/// One image of a picture that has a grid of them, in pixels. Pure.
package struct ThumbnailTile: Equatable, Sendable {
    package let x, y, width, height: Int

    /// The image about a fifth into a segment.
    ///
    /// - Parameter text: the segment's playlist, of which the EXT-X-TILES in front of the segment counts.
    /// - Returns: nil if the segment is one image, or if its tag cannot be read.
    init?(of segment: Segment, in text: [UInt8]) {
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let before = lines.prefix(max(0, segment.line - 1)).map { String(decoding: $0, as: UTF8.self) }
        guard let tag = before.last(where: { $0.hasPrefix(Self.tag) }) else { return nil }
        self.init(tag: tag, seconds: segment.duration.seconds)
    }

    private static let tag = "#EXT-X-TILES:"

    /// - Parameters:
    ///   - tag: `#EXT-X-TILES:RESOLUTION=160x90,LAYOUT=5x4,DURATION=2`.
    ///   - seconds: of the picture's segment, which may not fill its grid.
    init?(tag: String, seconds: Double) {
        var values: [Substring: Substring] = [:]
        for attribute in tag.dropFirst(Self.tag.count).split(separator: ",") {
            let parts = attribute.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            values[parts[0]] = parts[1]
        }
        guard let size = Self.pair(values["RESOLUTION"]), let layout = Self.pair(values["LAYOUT"]) else { return nil }
        var count = layout.0 * layout.1
        if let text = values["DURATION"], let duration = Double(text), duration > 0, seconds / duration < Double(count)
        {
            count = max(1, Int((seconds / duration).rounded(.up)))
        }
        let number = count / 5
        x = number % layout.0 * size.0
        y = number / layout.0 * size.1
        width = size.0
        height = size.1
    }

    private static func pair(_ text: Substring?) -> (Int, Int)? {
        guard let text else { return nil }
        let numbers = text.split(separator: "x").compactMap { Int($0) }
        guard numbers.count == 2, numbers.allSatisfy({ (1...10_000).contains($0) }) else { return nil }
        return (numbers[0], numbers[1])
    }
}
