/// The lanes of one session, at most one for each kind of media. Pure.
struct PlayheadLanes {
    private var main: PlayheadLane?
    private var audio: PlayheadLane?
    /// Largest distance between the lanes of one session, in seconds: more than two long segments.
    private static let slack = 30.0

    subscript(kind: MediaKind) -> PlayheadLane? {
        get {
            switch kind {
            case .main: main
            case .audio: audio
            }
        }
        set {
            switch kind {
            case .main: main = newValue
            case .audio: audio = newValue
            }
        }
    }

    var isEmpty: Bool { main == nil && audio == nil }
    var hasBoth: Bool { main != nil && audio != nil }

    /// The rendition that is played; nil while that is not clear: the third segment in sequence shows it.
    var choice: String? { main?.choice ?? audio?.choice }

    /// A player may leave a lane that it has opened, such as separate audio: its choice in another one ends the opening, too.
    var isOpening: Bool {
        guard choice == nil else { return false }
        if let main, main.isOpening {
            return true
        }
        return audio?.isOpening ?? false
    }

    /// The least of a value of the lanes that count; nil if there is none. A player may have left separate audio for muxed audio,
    /// and after a seek each lane counts once it has followed.
    func least(_ value: (PlayheadLane) -> Double) -> Double? {
        guard let main else { return audio.map(value) }
        guard let audio else { return value(main) }
        let lead = main.requestedEnd - audio.requestedEnd
        if lead > Self.slack {
            return value(main)
        }
        if lead < -Self.slack {
            return value(audio)
        }
        return min(value(main), value(audio))
    }
}
