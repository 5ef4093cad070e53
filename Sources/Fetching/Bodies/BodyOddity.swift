import SegmentFormat

/// Names bodies that are stored as they come, although most players cannot use them. Pure.
enum BodyOddity {
    /// A sentence without a subject about the first bytes of a resource; nil for what is usual.
    static func sentence(about bytes: some Collection<UInt8>, as resource: Resource) -> String? {
        switch resource.name.role {
        case .key: keySentence(about: Array(bytes.prefix(64)))
        case .segment: segmentSentence(about: bytes, as: resource)
        case .initialization, .passing, .data: nil
        }
    }

    private static func keySentence(about bytes: [UInt8]) -> String? {
        guard let form = KeyBody.textForm(of: bytes) else { return nil }
        return
            "is written in \(form): players take its first 16 characters, and decrypt only if the packager did so, too"
    }

    private static func segmentSentence(about bytes: some Collection<UInt8>, as resource: Resource) -> String? {
        // A packet of a transport stream begins with the letter that a GIF picture does.
        guard let first = bytes.first, first != 0x47 || bytes.dropFirst().first == UInt8(ascii: "I") else { return nil }
        // libavformat takes the segment for the picture [probed with 5.1]; before JPEG it plays.
        if let picture = MediaRecognition.pictureName(bytes), picture != "a JPEG picture",
            !PieceName.pictures.contains(resource.name.fileExtension)
        {
            return "begins with \(picture), which ffmpeg and mpv take it for: they play nothing of it"
        }
        let isSubRip =
            first &- 0x30 < 10 && ["vtt", "webvtt"].contains(resource.name.fileExtension)
            && MediaRecognition.isTextTrack(bytes)
        return isSubRip ? "is SubRip text, and no WebVTT: hls.js and ffmpeg show nothing of it" : nil
    }
}
