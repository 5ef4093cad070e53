import Foundation

/// Hashes of the decoded frames of a presentation, by stream, from ffmpeg's `framemd5`.
package struct FrameHashes: Equatable, Sendable {
    /// One stream, with its frames in output order.
    package struct Stream: Equatable, Sendable {
        package var mediaType = ""
        package var dimensions = ""
        /// The codec of the decoded frames, as in `rawvideo`.
        package var codec = ""
        /// Seconds in a tick of ``Frame/time``, as in `1/10`.
        package var timeBase = ""
        package var frames: [Frame] = []
    }

    package struct Frame: Equatable, Sendable {
        package let time: Int
        package let duration: Int
        package let hash: Substring
    }

    package let streams: [Stream]
    /// ffmpeg's standard error at level "error"; empty without errors.
    package let errors: String

    /// Decodes all streams of all variants and renditions of a URL, as fast as possible.
    ///
    /// - Parameters:
    ///   - level: minimum level of the messages in ``errors``.
    ///   - options: input options.
    ///   - outputOptions: output options: `-autoscale 0` keeps the picture size.
    package static func of(
        _ url: String, level: String = "error", options: [String] = [], outputOptions: [String] = [],
        within bound: Duration = .seconds(90)
    ) async throws -> FrameHashes {
        let result = try await decode(
            url, level: level, options: options, outputOptions: outputOptions, within: bound)
        return FrameHashes(framemd5: result.output, errors: result.errors)
    }

    /// The frames of a URL that does not change while tests run, decoded once in a run.
    ///
    /// - Parameter name: name of the presentation.
    package static func ofUnchanging(_ url: String, name: String) async throws -> FrameHashes {
        let folder = try TemporaryFolder()
        let frames = folder.path("frames")
        try await OncePerRun.makeFolder("frames of \(name)", at: frames) { path in
            let result = try await decode(url)
            try Data(result.output.utf8).write(to: URL(filePath: path + "/output"))
            try Data(result.errors.utf8).write(to: URL(filePath: path + "/errors"))
        }
        return FrameHashes(
            framemd5: try String(contentsOfFile: frames + "/output", encoding: .utf8),
            errors: try String(contentsOfFile: frames + "/errors", encoding: .utf8))
    }

    private static func decode(
        _ url: String, level: String = "error", options: [String] = [], outputOptions: [String] = [],
        within bound: Duration = .seconds(90)
    ) async throws -> ProcessResult {
        // Threads for pictures as small as these cost more than they bring.
        let input = ["-nostdin", "-v", level, "-threads", "1"] + options + ["-i", url]
        let output = ["-map", "0"] + outputOptions + ["-f", "framemd5", "-"]
        let result = try await ProcessRunner.run("ffmpeg", input + output, within: bound)
        guard result.exit == .code(0) else { throw TimedOut("frames from \(url): \(result.exit), \(result.errors)") }
        return result
    }

    /// Parses `framemd5` output. Unknown lines are ignored.
    package init(framemd5 text: String, errors: String = "") {
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
    package func firstDifference(from expected: FrameHashes) -> String? {
        guard streams.count == expected.streams.count else {
            return "\(streams.map(\.name)) instead of the streams \(expected.streams.map(\.name))"
        }
        return zip(streams, expected.streams).enumerated().lazy.compactMap { index, pair in
            pair.0.firstDifference(from: pair.1).map { "stream \(index), \($0)" }
        }.first
    }

    /// Describes the first difference of a part of the presentation, such as one stored variant: each of these streams
    /// must equal one of the expected streams, and there must be at least one. Nil if so.
    package func firstDifference(fromPartOf expected: FrameHashes) -> String? {
        guard !streams.isEmpty else { return "no stream at all" }
        return streams.lazy.compactMap { stream in
            let differences = expected.streams.filter { $0.name == stream.name }.map {
                stream.firstDifference(from: $0)
            }
            if differences.contains(nil) {
                return nil
            }
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
