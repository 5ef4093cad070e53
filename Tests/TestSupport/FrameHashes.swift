/// Hashes of the decoded frames of a presentation, by stream, from ffmpeg's `framemd5`.
public struct FrameHashes: Equatable, Sendable {
    /// One stream, with its frames in output order.
    public struct Stream: Equatable, Sendable {
        /// `video` or `audio`.
        public var mediaType = ""
        /// As in `320x180`; empty for audio.
        public var dimensions = ""
        /// The codec of the decoded frames, as in `rawvideo`.
        public var codec = ""
        /// Seconds in a tick of ``Frame/time``, as in `1/10`.
        public var timeBase = ""
        /// All decoded frames.
        public var frames: [Frame] = []
    }

    /// One decoded frame.
    public struct Frame: Equatable, Sendable {
        /// Presentation time in ticks of the stream's time base.
        public let time: Int
        /// Duration in the same ticks.
        public let duration: Int
        /// MD5 of the pixels or samples.
        public let hash: Substring
    }

    /// Streams in the order of ffmpeg's stream index.
    public let streams: [Stream]
    /// ffmpeg's standard error at level "error"; empty without errors.
    public let errors: String

    /// Decodes all streams of all variants and renditions of a URL, as fast as possible.
    ///
    /// - Parameters:
    ///   - level: minimum level of the messages in ``errors``.
    ///   - options: input options.
    ///   - outputOptions: output options: `-autoscale 0` keeps the picture size.
    public static func of(
        _ url: String, level: String = "error", options: [String] = [], outputOptions: [String] = [],
        within bound: Duration = .seconds(90)
    ) async throws -> FrameHashes {
        let arguments =
            ["-nostdin", "-v", level] + options + ["-i", url, "-map", "0"] + outputOptions + ["-f", "framemd5", "-"]
        let result = try await ProcessRunner.run("ffmpeg", arguments, within: bound)
        guard result.exit == .code(0) else { throw TimedOut("frames from \(url): \(result.exit), \(result.errors)") }
        return FrameHashes(framemd5: result.output, errors: result.errors)
    }

    /// Parses `framemd5` output. Unknown lines are ignored.
    public init(framemd5 text: String, errors: String = "") {
        var streams: [Int: Stream] = [:]
        for line in text.split(separator: "\n") {
            if line.hasPrefix("#") {
                let words = line.dropFirst().split(maxSplits: 2, whereSeparator: { $0 == " " || $0 == ":" })
                guard words.count == 3, let index = Int(words[1]) else { continue }
                let value = words[2].drop { $0 == ":" || $0 == " " }
                streams[index, default: Stream()].set(words[0], to: String(value))
            } else {
                let fields = line.split(separator: ",").map { $0.drop { $0 == " " } }
                guard fields.count == 6, let index = Int(fields[0]), let time = Int(fields[2]),
                    let duration = Int(fields[3])
                else { continue }
                streams[index, default: Stream()].frames.append(Frame(time: time, duration: duration, hash: fields[5]))
            }
        }
        self.streams = streams.sorted { $0.key < $1.key }.map(\.value)
        self.errors = errors
    }

    /// Describes the first difference from the expected frames; nil if all streams are equal, in the same order.
    public func firstDifference(from expected: FrameHashes) -> String? {
        guard streams.count == expected.streams.count else {
            return "\(streams.map(\.name)) instead of the streams \(expected.streams.map(\.name))"
        }
        return zip(streams, expected.streams).enumerated().lazy.compactMap { index, pair in
            pair.0.firstDifference(from: pair.1).map { "stream \(index), \($0)" }
        }.first
    }

    /// Describes the first difference of a part of the presentation, such as one stored variant: each of these streams
    /// must equal one of the expected streams, and there must be at least one. Nil if so.
    public func firstDifference(fromPartOf expected: FrameHashes) -> String? {
        guard !streams.isEmpty else { return "no stream at all" }
        return streams.lazy.compactMap { stream in
            let differences = expected.streams.filter { $0.name == stream.name }.map {
                stream.firstDifference(from: $0)
            }
            if differences.contains(nil) { return nil }
            return differences.first ?? "a stream \(stream.name) that is not expected"
        }.first
    }
}

extension FrameHashes.Stream {
    /// Media type and dimensions, which identify the stream.
    fileprivate var name: String { dimensions.isEmpty ? mediaType : mediaType + " " + dimensions }

    fileprivate mutating func set(_ key: Substring, to value: String) {
        switch key {
        case "media_type": mediaType = value
        case "dimensions": dimensions = mediaType == "audio" ? "" : value
        case "codec_id": codec = value
        case "tb": timeBase = value
        default: break
        }
    }

    fileprivate func firstDifference(from expected: FrameHashes.Stream) -> String? {
        guard
            (mediaType, dimensions, codec, timeBase)
                == (expected.mediaType, expected.dimensions, expected.codec, expected.timeBase)
        else {
            return "\(name) \(codec) \(timeBase) instead of \(expected.name) \(expected.codec) \(expected.timeBase)"
        }
        if let index = zip(frames, expected.frames).enumerated().first(where: { $0.element.0 != $0.element.1 })?.offset
        {
            return "\(name): frame \(index) is \(frames[index]) instead of \(expected.frames[index])"
        }
        return frames.count == expected.frames.count
            ? nil : "\(name): \(frames.count) frames instead of \(expected.frames.count)"
    }
}
