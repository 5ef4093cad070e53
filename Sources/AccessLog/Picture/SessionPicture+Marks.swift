/// The source of a delivered segment, as a mark with a shape of its own.
enum MarkKind: CaseIterable {
    case store, origin, joined, substitute

    init(_ segment: TimelineSegment) {
        self =
            if segment.substitute != nil {
                .substitute
            } else {
                switch segment.source {
                case .store: .store
                case .origin: .origin
                case .joined: .joined
                }
            }
    }

    /// The mark's class in the image.
    var style: String { "\(self)" }

    var words: String {
        switch self {
        case .store: "from the store"
        case .origin: "from the origin"
        case .joined: "from a fetch in progress"
        case .substitute: "of another quality instead"
        }
    }

    /// The outline of a mark around a point: a disc, a square, a triangle or an open diamond.
    func shape(_ x: Double, _ y: Double) -> String {
        let at = { (dx: Double, dy: Double) in "\(PictureDrawing.number(x + dx)) \(PictureDrawing.number(y + dy))" }
        return switch self {
        case .store: "M\(at(-4, 0)) a4 4 0 1 0 8 0 a4 4 0 1 0 -8 0 Z"
        case .origin: "M\(at(-3.5, -3.5)) h7 v7 h-7 Z"
        case .joined: "M\(at(0, -4.5)) L\(at(4.5, 3.5)) L\(at(-4.5, 3.5)) Z"
        case .substitute: "M\(at(0, -4.5)) L\(at(4.5, 0)) L\(at(0, 4.5)) L\(at(-4.5, 0)) Z"
        }
    }
}

/// Places marks so that none covers another: marks of one moment are stacked, and those that find no room in the stack
/// stand further to the right. Pure.
struct MarkRows {
    /// Place of each mark: its row, from 0, and its distance from the left, in pixels.
    private(set) var positions: [(row: Int, x: Double)] = []
    private(set) var count = 1
    private static let limit = 6
    static let size = 11.0

    /// - Parameter right: the largest distance; marks that would be beyond it cover others.
    init(_ wanted: [Double], right: Double) {
        // The distance from which on a row is free.
        var free: [Double] = []
        for x in wanted {
            let row: Int
            if let index = free.firstIndex(where: { $0 <= x }) {
                row = index
            } else if free.count < Self.limit {
                row = free.count
                free.append(x)
            } else {
                row = free.indices.min { free[$0] < free[$1] } ?? 0
            }
            let left = min(max(x, free[row]), right)
            free[row] = left + Self.size
            positions.append((row, left))
        }
        count = max(1, free.count)
    }
}

/// The band of marks: one for each delivered segment, video above sound.
extension SessionPicture {
    struct Marks {
        /// Video and sound; sound only if the session has it apart.
        var lanes: [(name: String, segments: [TimelineSegment], rows: MarkRows)]

        var height: Double { lanes.reduce(0) { $0 + Self.height($1.rows) } }
        static func height(_ rows: MarkRows) -> Double { Double(rows.count) * MarkRows.size + 9 }
    }

    var marks: Marks {
        let isAudio = { (segment: TimelineSegment) in
            timeline.renditions.indices.contains(segment.rendition) && timeline.renditions[segment.rendition].isAudio
        }
        let sound = timeline.segments.filter(isAudio)
        let video = timeline.segments.filter { !isAudio($0) }
        let name = sound.isEmpty ? "segments" : "video"
        return Marks(
            lanes: [(name, video), ("sound", sound)]
                .filter { !$0.1.isEmpty || $0.0 == "segments" }
                .map { name, segments in
                    (name, segments, MarkRows(segments.map { time.x($0.time) }, right: time.left + time.width))
                })
    }

    func drawMarks(_ drawing: inout PictureDrawing, in area: PictureArea) {
        var y = area.y
        var labels: [(Double, String)] = []
        for lane in marks.lanes {
            let height = Marks.height(lane.rows)
            labels.append((y + height / 2, lane.name))
            for (segment, position) in zip(lane.segments, lane.rows.positions) {
                let kind = MarkKind(segment)
                let middle = y + height - 9 - Double(position.row) * MarkRows.size
                drawing.path("mark \(kind.style)", kind.shape(position.x, middle), title: words(for: segment, kind))
            }
            y += height
        }
        drawBand(&drawing, "Source of each segment", in: area, labels: labels)
    }

    private func words(for segment: TimelineSegment, _ kind: MarkKind) -> String {
        var numbers = "segment \(segment.number)"
        if segment.count != 1 {
            numbers = "\(segment.count) segments from \(segment.number) on"
        }
        var other = ""
        if let substitute = segment.substitute {
            other = " (\(name(ofRendition: substitute)), \(segment.source.rawValue))"
        }
        let name = name(ofRendition: segment.rendition)
        return "\(PictureText.clock(segment.time)): \(numbers) of \(name), \(kind.words)\(other)"
    }

    private func name(ofRendition index: Int) -> String {
        guard timeline.renditions.indices.contains(index) else { return "?" }
        return timeline.renditions[index].id
    }
}
