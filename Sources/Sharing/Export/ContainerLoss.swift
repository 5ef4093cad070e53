import Foundation

/// Compares the packets of a written file with those of the stored media: what one file cannot hold, or no decoder plays. Pure.
struct ContainerLoss: Sendable {
    /// A run of segments without a change.
    struct Run: Sendable {
        /// In seconds from the start of the film.
        let start: Double
        /// Of its segments, for a message: `MPEG-TS`.
        let container: String
        let streams: [MediaProbe.Stream]
    }

    /// A rendition: the runs of its segments, of which the first decides how a file describes the track.
    typealias Rendition = [Run]

    private enum Kind: String, CaseIterable {
        case pictures = "video"
        case sound = "audio"

        var unit: String {
            switch self {
            case .pictures: "pictures"
            case .sound: "packets of sound"
            }
        }
    }

    /// A sentence about what is lost; nil if nothing is.
    let message: String?
    /// True if a file for each part would hold what is lost.
    let isByChanges: Bool

    /// - Parameters:
    ///   - file: the name of the written file.
    ///   - written: its streams.
    init(_ renditions: [Rendition], in file: String, written: [MediaProbe.Stream], isSoundOnly: Bool) {
        var losses: [String] = []
        var refused: [String] = []
        for kind in Kind.allCases where !isSoundOnly || kind == .sound {
            let stored = renditions.map { Self.count(kind, in: $0) }
            let all = stored.reduce(0) { $0 + $1.all }
            let playable = stored.reduce(0) { $0 + $1.playable }
            let present = written.filter { $0.kind == kind.rawValue }.reduce(0) { $0 + $1.packets }
            let rest = min(present, playable)
            if rest < all {
                losses.append("\(rest) of \(all) \(kind.unit)")
            }
            if present == 0, all > 0 {
                let codecs = renditions.flatMap { $0.flatMap(\.streams) }.filter { $0.kind == kind.rawValue }
                refused.append(contentsOf: codecs.map(\.words).prefix(1))
            }
        }
        let changes = Self.changes(in: renditions)
        isByChanges = !losses.isEmpty && !changes.isEmpty
        guard !losses.isEmpty else {
            message = nil
            return
        }
        var text = "\(file) plays only \(losses.joined(separator: " and "))"
        if let first = changes.first {
            text += ": \(first.words)"
            if changes.count > 1 {
                text += ", the first of \(changes.count) changes"
            }
        } else if !refused.isEmpty {
            text += ": the format cannot hold \(refused.joined(separator: " or "))"
        }
        message = text
    }

    /// The packets of a kind in a rendition, and those among them that a decoder plays which knows the first run.
    private static func count(_ kind: Kind, in rendition: Rendition) -> (all: Int, playable: Int) {
        var all = 0
        var playable = 0
        let first = rendition.first?.streams.filter { $0.kind == kind.rawValue } ?? []
        for run in rendition {
            for (index, stream) in run.streams.filter({ $0.kind == kind.rawValue }).enumerated() {
                all += stream.packets
                if index < first.count, stream.isPlayable(asTrackOf: first[index]) {
                    playable += stream.packets
                }
            }
        }
        return (all, playable)
    }

    /// A sentence about the first change; nil if nothing changes.
    static func firstChange(in renditions: [Rendition]) -> String? { changes(in: renditions).first?.words }

    private static func changes(in renditions: [Rendition]) -> [(time: Double, words: String)] {
        renditions.flatMap { changes(in: $0) }.sorted { $0.time < $1.time }
    }

    private static func changes(in rendition: Rendition) -> [(time: Double, words: String)] {
        zip(rendition, rendition.dropFirst()).compactMap { last, next in
            guard let words = change(from: last, to: next) else { return nil }
            return (next.start, "at \(clock(next.start)) \(words)")
        }
    }

    /// A sentence about a change that a decoder notices; nil if there is none.
    private static func change(from last: Run, to next: Run) -> String? {
        if last.container != next.container {
            return "\(last.container) changes to \(next.container)"
        }
        for (one, other) in zip(last.streams, next.streams) where !other.isPlayable(asTrackOf: one) {
            guard one.words != other.words else { return "the parameters of \(one.words) change" }
            return "\(one.words) changes to \(other.words)"
        }
        guard last.streams.count == next.streams.count else { return "the number of tracks changes" }
        return nil
    }

    private static func clock(_ seconds: Double) -> String {
        let all = Int(seconds)
        let digits = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
        guard all >= 3600 else { return "\(all / 60):\(digits(all % 60))" }
        return "\(all / 3600):\(digits(all / 60 % 60)):\(digits(all % 60))"
    }
}

extension MediaProbe.Stream {
    /// True if a decoder that was given the parameters of another stream plays this one.
    fileprivate func isPlayable(asTrackOf other: Self) -> Bool {
        guard codec == other.codec else { return false }
        // A file names the rate and the channels of its sound once.
        guard kind == "video" else { return rate == other.rate && channels == other.channels }
        // Other media has its parameter sets between the pictures.
        return parameters == other.parameters || hasParametersInBand
    }

    private var hasParametersInBand: Bool {
        guard let tag else { return false }
        // HEVC is the mark of a transport stream.
        return tag.hasPrefix("[") || ["avc3", "avc4", "hev1", "dvhe", "dvav", "HEVC"].contains(tag)
    }

    /// For a message: `HEVC 1920x1080`, `AAC 48000 Hz`.
    fileprivate var words: String {
        let id = codec ?? "an unknown codec"
        let name = ["h264": "H.264", "hevc": "HEVC", "aac": "AAC", "ac3": "AC-3", "eac3": "E-AC-3"][id]
        var words = [name ?? id]
        if let width, let height, width > 0 {
            words.append("\(width)x\(height)")
        } else if let rate {
            words.append("\(rate) Hz")
        }
        return words.joined(separator: " ")
    }
}
