internal import SafeText

/// Builds the text of an SVG image (SVG 1.1), element by element. Pure.
struct PictureDrawing {
    private(set) var text = ""

    enum Anchor: String { case start, middle, end }

    mutating func line(_ kind: String, from start: (x: Double, y: Double), to end: (x: Double, y: Double)) {
        let x1 = Self.number(start.x)
        let y1 = Self.number(start.y)
        let x2 = Self.number(end.x)
        let y2 = Self.number(end.y)
        text += "<line class=\"\(kind)\" x1=\"\(x1)\" y1=\"\(y1)\" x2=\"\(x2)\" y2=\"\(y2)\"/>\n"
    }

    mutating func path(_ kind: String, _ data: String, title: String? = nil) {
        text += "<path class=\"\(kind)\" d=\"\(data)\""
        close("path", title: title)
    }

    mutating func rectangle(_ kind: String, _ area: PictureArea, title: String? = nil) {
        let corner = "x=\"\(Self.number(area.x))\" y=\"\(Self.number(area.y))\""
        let size = "width=\"\(Self.number(area.width))\" height=\"\(Self.number(area.height))\""
        text += "<rect class=\"\(kind)\" \(corner) \(size)"
        close("rect", title: title)
    }

    /// Closes an open tag, with a title in the element if it has one.
    private mutating func close(_ element: String, title: String?) {
        guard let title else {
            text += "/>\n"
            return
        }
        text += "><title>\(Self.escaped(title))</title></\(element)>\n"
    }

    mutating func words(
        _ words: String, _ kind: String, at point: (x: Double, y: Double), anchor: Anchor = .start
    ) {
        let x = Self.number(point.x)
        let y = Self.number(point.y)
        var side = ""
        if anchor != .start {
            side = " text-anchor=\"\(anchor.rawValue)\""
        }
        text += "<text class=\"\(kind)\" x=\"\(x)\" y=\"\(y)\"\(side)>"
        text += Self.escaped(words) + "</text>\n"
    }

    /// The data of a path through points, from left to right.
    static func data(_ points: [(x: Double, y: Double)]) -> String {
        guard !points.isEmpty else { return "" }
        let pairs = points.map { "\(number($0.x)) \(number($0.y))" }
        return "M" + pairs.joined(separator: " L")
    }

    /// A length with at most one decimal.
    static func number(_ value: Double) -> String {
        guard value.isFinite else { return "0" }
        let tenths = Int64((min(max(value, -1e6), 1e6) * 10).rounded())
        let rest = abs(tenths % 10)
        var text = "\(abs(tenths / 10))"
        if tenths < 0 {
            text = "-" + text
        }
        if rest != 0 {
            text += ".\(rest)"
        }
        return text
    }

    /// Text for an element. Control characters, which XML does not allow, are written as escapes.
    static func escaped(_ words: String) -> String {
        var result = ""
        for scalar in Printable.line(words).unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

/// A rectangle of the image, in pixels from its upper left corner.
struct PictureArea: Equatable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    var right: Double { x + width }
    var bottom: Double { y + height }
}

/// The time axis: seconds since the session began as pixels.
struct PictureTime {
    let left: Double
    let width: Double
    /// Length of the axis in seconds, at least 1.
    let length: Double
    /// Distance of two ticks in pixels, at least.
    private static let pitch = 64.0
    private static let steps = [
        0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400,
    ]

    init(_ timeline: SessionTimeline, left: Double, width: Double) {
        self.left = left
        self.width = width
        let lastSegment = timeline.segments.last?.time ?? 0
        let lastStall = timeline.stalls.last?.until ?? 0
        let last = max(lastSegment, lastStall, timeline.length)
        length = last.isFinite ? min(max(last, 1), 1e7) : 1
    }

    func x(_ time: Double) -> Double { left + width * min(max(time, 0), length) / length }

    /// The times of the ticks.
    var ticks: [Double] {
        let least = length * Self.pitch / width
        let step = Self.steps.first { $0 >= least } ?? (least / 86_400).rounded(.up) * 86_400
        return (0...Int(length / step)).map { Double($0) * step }
    }
}

/// Formats figures of the image.
enum PictureText {
    /// `0:04`, `1:02:03`; with tenths for times that are not whole seconds.
    static func clock(_ seconds: Double) -> String {
        let tenths = Int((min(max(0, seconds), 1e7) * 10).rounded())
        let whole = tenths / 10
        let rest = tenths % 10
        let hours = whole / 3600
        let minutes = whole / 60 % 60
        let remainder = twoDigits(whole % 60)

        var text = "\(minutes):\(remainder)"
        if hours > 0 {
            text = "\(hours):\(twoDigits(minutes)):\(remainder)"
        }
        if rest != 0 {
            text += ".\(rest)"
        }
        return text
    }

    private static func twoDigits(_ number: Int) -> String {
        guard number < 10 else { return "\(number)" }
        return "0\(number)"
    }

    /// `2.3 s`.
    static func seconds(_ value: Double) -> String { "\(tenths(value)) s" }

    /// `850 kb/s`, `2.1 Mb/s`, `1.2 Gb/s`.
    static func bitRate(_ value: Double) -> String {
        switch value {
        case ..<999_500: "\(Int((max(0, value) / 1000).rounded())) kb/s"
        case ..<99.95e6: "\(tenths(value / 1e6)) Mb/s"
        case ..<999.5e6: "\(Int((value / 1e6).rounded())) Mb/s"
        default: "\(tenths(min(value, 1e15) / 1e9)) Gb/s"
        }
    }

    static func count(_ number: Int, _ one: String) -> String {
        guard number != 1 else { return "1 \(one)" }
        return "\(number) \(one)s"
    }

    private static func tenths(_ value: Double) -> String {
        let tenths = Int((min(max(0, value), 1e9) * 10).rounded())
        guard tenths % 10 != 0 else { return "\(tenths / 10)" }
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static let units = ["s", "kb/s", "Mb/s", "Gb/s", "UTC"]

    /// Breaks words into lines of at most so many characters, but not before a unit. A longer word has a line of its own.
    static func lines(_ words: String, of limit: Int) -> [String] {
        var lines: [String] = []
        for word in words.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= limit || units.contains(String(word)) {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
