/// The bands with a scale: quality, throughput and buffer.
extension SessionPicture {
    private static let bandTop = 6.0

    /// A position in a band for a value of a scale from 0 to `top`.
    private static func y(_ value: Double, of top: Double, in area: PictureArea) -> Double {
        area.bottom - (area.height - bandTop) * min(max(value, 0), top) / top
    }

    /// The renditions of the delivered pieces over time, without audio.
    private var qualities: [(time: Double, rendition: TimelineRendition)] {
        timeline.segments.compactMap { segment in
            let index = segment.substitute ?? segment.rendition
            guard timeline.renditions.indices.contains(index), !timeline.renditions[index].isAudio else { return nil }
            return (segment.time, timeline.renditions[index])
        }
    }

    // MARK: Quality

    func drawQuality(_ drawing: inout PictureDrawing, in area: PictureArea) {
        let known = qualities.filter { $0.rendition.bandwidth ?? 0 > 0 }
        let top = known.compactMap(\.rendition.bandwidth).max().map(Double.init)
        guard let top else {
            drawBand(&drawing, "Quality", in: area, labels: [])
            return drawNothing("the stream does not state one", &drawing, in: area)
        }
        var labels: [(Double, String)] = []
        let renditions = known.map(\.rendition).sorted { Self.rate($0) > Self.rate($1) }
        for rendition in renditions {
            let y = Self.y(Self.rate(rendition), of: top, in: area)
            guard labels.allSatisfy({ abs($0.0 - y) >= 13 }) else { continue }
            labels.append((y, Self.name(rendition)))
        }
        drawBand(&drawing, "Quality of what was loaded", in: area, labels: labels)
        for (y, _) in labels {
            drawing.line("grid", from: (area.x, y), to: (area.right, y))
        }
        drawing.path("quality", steps(known, top: top, in: area))
    }

    private static func name(_ rendition: TimelineRendition) -> String {
        guard let height = rendition.height else { return PictureText.bitRate(rate(rendition)) }
        return "\(height)p"
    }

    private static func rate(_ rendition: TimelineRendition) -> Double { Double(rendition.bandwidth ?? 0) }

    /// Draws a band's only words.
    private func drawNothing(_ words: String, _ drawing: inout PictureDrawing, in area: PictureArea) {
        drawing.words(words, "none", at: (area.x + 8, area.y + area.height / 2 + 4))
    }

    /// A line that steps to the bit rate of each delivered piece, and keeps it until the next one.
    private func steps(
        _ known: [(time: Double, rendition: TimelineRendition)], top: Double, in area: PictureArea
    ) -> String {
        var points: [(x: Double, y: Double)] = []
        for (time, rendition) in known {
            let x = self.time.x(time)
            let y = Self.y(Double(rendition.bandwidth ?? 0), of: top, in: area)
            if let last = points.last {
                points.append((x, last.y))
            }
            points.append((x, y))
        }
        if let last = points.last {
            points.append((area.right, last.y))
        }
        return PictureDrawing.data(points)
    }

    // MARK: Throughput

    func drawThroughput(_ drawing: inout PictureDrawing, in area: PictureArea) {
        let fetched = timeline.segments.filter { segment in
            guard let rate = segment.rate, let wait = segment.wait else { return false }
            return rate > 0 && wait > 0
        }

        guard let most = fetched.compactMap(\.rate).max() else {
            drawBand(&drawing, "Throughput from the origin", in: area, labels: [])
            return drawNothing("nothing was fetched", &drawing, in: area)
        }

        let known = qualities.filter { $0.rendition.bandwidth ?? 0 > 0 }
        let top = max(most, Double(known.compactMap(\.rendition.bandwidth).max() ?? 0))
        let labels = [(Self.y(top, of: top, in: area), PictureText.bitRate(top)), (area.bottom, "0")]
        drawBand(&drawing, "Throughput from the origin", in: area, labels: labels)

        for segment in fetched {
            let rate = segment.rate ?? 0
            let wait = segment.wait ?? 0
            // A rate that is far below the others has a bar too.
            let x = time.x(segment.time - wait)
            let y = min(Self.y(rate, of: top, in: area), area.bottom - 2)
            let bar = PictureArea(x: x, y: y, width: max(2, time.x(segment.time) - x), height: area.bottom - y)
            drawing.rectangle("rate", bar, title: "\(PictureText.clock(segment.time)): \(PictureText.bitRate(rate))")
        }

        if !known.isEmpty {
            drawing.path("needed", steps(known, top: top, in: area))
        }
    }

    // MARK: Buffer

    func drawBuffer(_ drawing: inout PictureDrawing, in area: PictureArea) {
        let top = max(timeline.segments.map(\.buffer).max() ?? 0, 1)
        let labels = [(Self.y(top, of: top, in: area), PictureText.seconds(top)), (area.bottom, "0")]
        drawBand(&drawing, "Buffer, estimated, and stalls", in: area, labels: labels)
        let curve = bufferPoints.map { (x: time.x($0.time), y: Self.y($0.buffer, of: top, in: area)) }
        if let first = curve.first, let last = curve.last {
            let ground = [(x: first.x, y: area.bottom)] + curve + [(x: last.x, y: area.bottom)]
            drawing.path("buffer", PictureDrawing.data(ground) + " Z")
        }
        var free = -Double.infinity
        for stall in timeline.stalls {
            let x = time.x(stall.since)
            let width = max(3, time.x(stall.until) - x)
            let words = PictureText.seconds(stall.until - stall.since)
            let title = "Stall at \(PictureText.clock(stall.since)), \(words)"
            let half = PictureArea(x: x, y: area.y + area.height / 2, width: width, height: area.height / 2)
            drawing.rectangle("stall", half, title: title)
            guard x >= free, x + 30 < time.left + time.width else { continue }
            drawing.words(words, "stall-words", at: (x, area.y + 10))
            free = x + 8 + Double(words.count) * 6
        }
    }

    /// The buffer over time: it grows with each delivery, and is empty in a stall.
    private var bufferPoints: [(time: Double, buffer: Double)] {
        var points: [(time: Double, buffer: Double)] = []
        var stalls = timeline.stalls[...]
        for segment in timeline.segments {
            while let stall = stalls.first, stall.since <= segment.time {
                points.append((stall.since, 0))
                points.append((min(stall.until, segment.time), 0))
                stalls = stalls.dropFirst()
            }
            points.append((segment.time, segment.bufferBefore))
            points.append((segment.time, segment.buffer))
        }
        guard let last = points.last else { return [] }
        // The rest is played without a further delivery.
        let dry = min(timeline.length, last.time + last.buffer)
        if dry > last.time {
            points.append((dry, max(0, last.buffer - (dry - last.time))))
        }
        return points
    }
}
