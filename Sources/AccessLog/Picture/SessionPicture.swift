/// Draws the timeline of a session as an SVG image: quality, throughput, buffer with its stalls, and the source of each
/// segment, over one time axis. Pure.
///
/// The image follows the viewer's colour scheme, and has its figures as text too. No colour carries meaning alone.
package struct SessionPicture {
    let timeline: SessionTimeline
    private let title: String
    private let width: Double
    let time: PictureTime
    /// Widths in pixels that a viewer can use.
    package static let widths = 280...4096
    static let left = 66.0
    private static let right = 14.0
    private static let bandHeight = 72.0
    /// Height of a band's heading and of the gap above it.
    private static let heading = 30.0

    /// - Parameters:
    ///   - title: the asset's title; nil for its name.
    ///   - width: in pixels, limited to `widths`.
    package init(_ timeline: SessionTimeline, title: String? = nil, width: Int = 960) {
        self.timeline = timeline
        self.title = title ?? timeline.asset
        self.width = Double(min(max(width, Self.widths.lowerBound), Self.widths.upperBound))
        time = PictureTime(timeline, left: Self.left, width: self.width - Self.left - Self.right)
    }

    /// The image as text.
    package var svg: String {
        var drawing = PictureDrawing()
        var y = drawHead(&drawing)
        let areas = areas(from: y)
        y = areas.last?.bottom ?? y
        drawTime(&drawing, from: areas[0].y, to: y)
        drawQuality(&drawing, in: areas[0])
        drawThroughput(&drawing, in: areas[1])
        drawBuffer(&drawing, in: areas[2])
        drawMarks(&drawing, in: areas[3])
        y = drawLegend(&drawing, at: y + 42)
        return start(height: y + 10) + drawing.text + "</svg>\n"
    }

    /// The figures of the session in one or more sentences, as the text alternative of the image.
    package var summary: String {
        let counts = MarkKind.allCases.compactMap { kind -> String? in
            let count = timeline.segments.filter { MarkKind($0) == kind }.reduce(0) { $0 + $1.count }
            guard count > 0 else { return nil }
            return "\(count) \(kind.words)"
        }

        var sentences = ["\(PictureText.clock(timeline.length.rounded())) long"]
        var segments = PictureText.count(timeline.count, "segment")
        if !counts.isEmpty {
            segments += ": " + counts.joined(separator: ", ")
        }
        sentences.append(segments)

        if timeline.omitted > 0 {
            sentences.append("the first \(timeline.omitted) are not shown")
        }

        if let first = timeline.stalls.first {
            let stalls = PictureText.count(timeline.stalls.count, "stall")
            let time = PictureText.seconds(timeline.stallTime)
            sentences.append("\(stalls), \(time), the first at \(PictureText.clock(first.since))")
        } else {
            sentences.append("no stall")
        }

        let rates = timeline.segments.compactMap(\.rate)
        if let least = rates.min(), let most = rates.max() {
            sentences.append("throughput \(PictureText.bitRate(least)) to \(PictureText.bitRate(most))")
        }
        return sentences.joined(separator: " · ")
    }

    // MARK: Frame

    private func start(height: Double) -> String {
        let size = "width=\"\(Int(width))\" height=\"\(Int(height))\" viewBox=\"0 0 \(Int(width)) \(Int(height))\""
        return """
            <svg xmlns="http://www.w3.org/2000/svg" \(size) role="img" aria-labelledby="title summary">
            <title id="title">\(PictureDrawing.escaped("Playback of \(title)"))</title>
            <desc id="summary">\(PictureDrawing.escaped(summary))</desc>
            <style>\(Self.style)</style>
            <defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">\
            <line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>
            <rect class="ground" width="\(Int(width))" height="\(Int(height))"/>

            """
    }

    /// Draws the title and the figures. Returns the lower end.
    private func drawHead(_ drawing: inout PictureDrawing) -> Double {
        let room = width - 2 * Self.right
        let most = Int(room / 10.8)
        var heading = title
        if title.count > most {
            heading = title.prefix(most - 1) + "…"
        }
        drawing.words(heading, "title", at: (Self.right, 26))

        let date = LogDate(timeline.began)
        var player = "a player"
        if let client = timeline.client {
            player = String(client.prefix { $0 != " " }.prefix(24))
        }
        let words = "\(date.day) \(date.time.prefix(5)) UTC · \(player) · \(summary)"
        var y = 46.0
        for line in PictureText.lines(words, of: Int(room / 6.6)) {
            drawing.words(line, "quiet", at: (Self.right, y))
            y += 17
        }
        return y - 12
    }

    private func areas(from top: Double) -> [PictureArea] {
        var y = top
        let heights = [Self.bandHeight, Self.bandHeight, Self.bandHeight, marks.height]
        return heights.map { height in
            y += Self.heading
            defer { y += height }
            return PictureArea(x: time.left, y: y, width: time.width, height: height)
        }
    }

    /// Draws the ticks and their lines through all bands, and the stalls as a ground behind them.
    private func drawTime(_ drawing: inout PictureDrawing, from top: Double, to bottom: Double) {
        for stall in timeline.stalls {
            let x = time.x(stall.since)
            let width = max(3, time.x(stall.until) - x)
            drawing.rectangle("stalled", PictureArea(x: x, y: top, width: width, height: bottom - top))
        }
        for tick in time.ticks {
            let x = time.x(tick)
            drawing.line("grid", from: (x, top), to: (x, bottom + 4))
            let words = PictureText.clock(tick)
            let isLast = x > width - Self.right - 14
            if isLast {
                drawing.words(words, "label", at: (x + 10, bottom + 18), anchor: .end)
            } else {
                drawing.words(words, "label", at: (x, bottom + 18), anchor: .middle)
            }
        }
    }

    /// Draws a band's heading, its ground line and the labels of its scale.
    func drawBand(_ drawing: inout PictureDrawing, _ heading: String, in area: PictureArea, labels: [(Double, String)])
    {
        drawing.words(heading, "heading", at: (Self.right, area.y - 9))
        drawing.line("axis", from: (area.x, area.bottom), to: (area.right, area.bottom))
        for (y, label) in labels {
            drawing.words(label, "label", at: (area.x - 6, y + 4), anchor: .end)
        }
    }

    private func drawLegend(_ drawing: inout PictureDrawing, at top: Double) -> Double {
        var x = Self.right
        var y = top
        for entry in legend {
            let length = 22 + Double(entry.words.count) * 6.6
            if x + length > width - Self.right, x > Self.right {
                x = Self.right
                y = y + 20
            }
            entry.drawKey(&drawing, at: x, y)
            drawing.words(entry.words, "quiet", at: (x + 20, y))
            x += length + 16
        }
        return y
    }

    private var legend: [LegendEntry] {
        var entries = MarkKind.allCases.map(LegendEntry.mark) + [.stall]
        if timeline.renditions.contains(where: { $0.bandwidth != nil }) {
            entries.append(.needed)
        }
        return entries
    }

    /// Plain properties for viewers that know neither media queries nor variables, and a dark scheme for those that do.
    private static let style = """
        text{font:12px system-ui,"Segoe UI","DejaVu Sans",sans-serif;fill:#14191d}
        .title{font-size:17px;font-weight:600}.heading{font-weight:600}.quiet,.label,.none{fill:#505c66}.label{font-size:11px}
        .ground{fill:#fff}.grid{stroke:#e3e9ec}.axis{stroke:#77838d}.hatch{stroke:#a21b14;stroke-width:3}
        .stalled{fill:#fde4e1}.stall{fill:url(#hatch);stroke:#a21b14}.stall-words{fill:#a21b14;font-size:11px}
        .quality{fill:none;stroke:#0b6683;stroke-width:2.5}.needed{fill:none;stroke:#7a4b00;stroke-width:1.5;stroke-dasharray:5 3}
        .rate{fill:#0b7d9e}.buffer{fill:#c3d3da;stroke:#505c66;stroke-width:1.2}
        .store{fill:#0b6b3a}.origin{fill:#c25a00}.joined{fill:#6f42b5}.substitute{fill:#fff;stroke:#b3206f;stroke-width:2}
        @media (prefers-color-scheme:dark){text{fill:#e8edf0}.quiet,.label,.none{fill:#a3b0b9}.ground{fill:#151b20}
        .grid{stroke:#2a343b}.axis{stroke:#7d8b95}.hatch{stroke:#ff9d94}.stalled{fill:#3c1714}.stall{stroke:#ff9d94}
        .stall-words{fill:#ff9d94}.quality{stroke:#6fcbe4}.needed{stroke:#f2c46d}.rate{fill:#4bb6d3}
        .buffer{fill:#3b4b54;stroke:#a3b0b9}.store{fill:#7fdba6}.origin{fill:#ffa057}.joined{fill:#c0a2f0}
        .substitute{fill:#151b20;stroke:#ff8cc6}}
        """
}

/// An entry of the legend: a key that looks as in the bands, and its words.
private enum LegendEntry {
    case mark(MarkKind)
    case stall
    /// The line of the bit rate that playback needs.
    case needed

    var words: String {
        switch self {
        case .mark(let kind): kind.words
        case .stall: "stall"
        case .needed: "bit rate of the variant"
        }
    }

    func drawKey(_ drawing: inout PictureDrawing, at x: Double, _ y: Double) {
        switch self {
        case .mark(let kind): drawing.path("key \(kind.style)", kind.shape(x + 6, y - 4))
        case .stall: drawing.rectangle("stall", PictureArea(x: x, y: y - 9, width: 12, height: 10))
        case .needed: drawing.line("needed", from: (x, y - 4), to: (x + 14, y - 4))
        }
    }
}
