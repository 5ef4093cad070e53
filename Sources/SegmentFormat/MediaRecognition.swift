/// Recognises media by its first bytes: everything that players of HLS read, and nothing else.
///
/// It says what a body looks like, not that it can be decoded.
public enum MediaRecognition {
    /// The number of bytes to look at: some origins put other bytes, such as the head of a picture, before a transport stream.
    public static let length = 64 << 10
    /// As many bytes as most media needs to be recognised.
    public static let firstLook = 1024
    /// Types of boxes with which a segment or an initialization section may begin (ISO/IEC 14496-12 §4.2, 8.16).
    public static let firstBoxes: Set<String> = [
        "ftyp", "styp", "moof", "moov", "sidx", "ssix", "emsg", "prft", "mdat", "free", "skip", "uuid", "wide", "pdin",
        "imda", "emib", "mfra", "pssh",
        "meta",
    ]

    /// True if the bytes, which begin a body, are media.
    /// - Parameters:
    ///   - bytes: at most `length` of them are looked at.
    ///   - isWhole: true if the body has no more bytes.
    ///   - isText: true if they are printable text throughout, which some media is not, whatever it begins with.
    public static func recognises(
        _ bytes: some Collection<UInt8>, isWhole: Bool, isText: @autoclosure () -> Bool = false
    ) -> Bool {
        let start = beginning(of: bytes, firstLook)
        if hasPackets(start, isWhole: false) || isTextTrack(start) {
            return true
        }
        if isWhole && hasPackets(start, isWhole: true) || isBox(start) || isAudio(start) || isContainer(start)
            || hasAudioFrames(start)
        {
            if !isText() {
                return true
            }
        }
        return bytes.count > firstLook && hasPackets(beginning(of: bytes, length), isWhole: false)
    }

    /// At most so many of the first bytes, copied at once where they are contiguous.
    public static func beginning(of bytes: some Collection<UInt8>, _ count: Int) -> [UInt8] {
        let copy = bytes.withContiguousStorageIfAvailable { [UInt8](UnsafeBufferPointer(rebasing: $0.prefix(count))) }
        return copy ?? Array(bytes.prefix(count))
    }

    /// True if the bytes are a picture of a kind that image playlists name.
    public static func isPicture(_ bytes: some Collection<UInt8>) -> Bool {
        let bytes = Array(bytes.prefix(12))
        return bytes.starts(with: [0xFF, 0xD8, 0xFF]) || bytes.starts(with: [0x89, 0x50, 0x4E, 0x47])
            || bytes.starts(with: "GIF8".utf8) || isBox(bytes)
            || bytes.starts(with: "RIFF".utf8) && bytes.dropFirst(8).elementsEqual("WEBP".utf8)
    }

    /// The name of a picture's format by its first bytes, with an article; nil for anything else.
    public static func pictureName(_ bytes: some Collection<UInt8>) -> String? {
        let bytes = Array(bytes.prefix(18))
        if bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8) {
            return "a GIF picture"
        }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            return "a PNG picture"
        }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            return "a JPEG picture"
        }
        if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) {
            return "a WebP picture"
        }
        // The two letters alone are too few: four bytes of zeros follow the size, and the second head is one of these lengths.
        let isBitmap =
            bytes.starts(with: "BM".utf8) && bytes.count == 18 && bytes[6..<10].allSatisfy { $0 == 0 }
            && [12, 40, 52, 56, 64, 108, 124].contains(bytes[14]) && bytes[15..<18].allSatisfy { $0 == 0 }
        return isBitmap ? "a BMP picture" : nil
    }

    /// True for frames of sound, also where the first one is cut, as in a stream that is joined while it is broadcast.
    public static func isSound(_ bytes: some Collection<UInt8>) -> Bool {
        let start = beginning(of: bytes, firstLook)
        return isAudio(start) || hasAudioFrames(start)
    }

    /// True for packets of a transport stream, wherever the first one begins.
    public static func isTransportStream(_ bytes: some Collection<UInt8>) -> Bool {
        hasPackets(beginning(of: bytes, firstLook), isWhole: false)
    }

    /// True if the text is one of cues, with the word or without (SubRip).
    public static func isTextTrack(_ bytes: some Collection<UInt8>) -> Bool {
        // Nearly all that is looked at is other media, and shows it by its first byte.
        guard let first = bytes.first, mayBeginText(first) else { return false }
        var text = Array(bytes.prefix(firstLook))[...]
        if text.starts(with: [0xEF, 0xBB, 0xBF]) {
            text = text.dropFirst(3)
        }
        text = text.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        if text.starts(with: "WEBVTT".utf8) {
            return true
        }
        // UTF-16 with a byte order mark.
        for mark in [[UInt8](arrayLiteral: 0xFF, 0xFE), [0xFE, 0xFF]] where text.starts(with: mark) {
            text = text.dropFirst(2).filter { $0 != 0 }[...]
            return text.starts(with: "WEBVTT".utf8)
        }
        guard let first = text.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
        return text.firstRange(of: Array(" --> ".utf8)) != nil
    }

    /// True for the first byte of a mark of UTF-8 or UTF-16, a blank, the word of WebVTT and the number of a cue.
    private static func mayBeginText(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xEF, 0xFE, 0xFF, 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "W"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: false
        }
    }

    private static func isBox(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 8 else { return false }
        let size = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
        return (size >= 8 || size < 2) && firstBoxes.contains(String(decoding: bytes[4..<8], as: UTF8.self))
    }

    /// True if packets follow each other. Five in a row are recognised anywhere, three before the end of the bytes, fewer only if
    /// they are the whole body.
    private static func hasPackets(_ bytes: [UInt8], isWhole: Bool) -> Bool {
        if PacketLayout(in: bytes, atLeast: 3) != nil {
            return true
        }
        guard isWhole, bytes.count >= 188, bytes.count < firstLook else { return false }
        return stride(from: 0, to: bytes.count, by: 188).allSatisfy { bytes[$0] == PacketLayout.sync }
    }

    /// ADTS (ISO/IEC 13818-7 §6.2), MPEG audio (ISO/IEC 11172-3 §2.4.1.3), AC-3 and E-AC-3 (ETSI TS 102 366 §4.3.1), AC-4,
    /// LATM, and ID3 before any of them.
    private static func isAudio(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 4 else { return false }
        if bytes.starts(with: "ID3".utf8) {
            return true
        }
        switch (bytes[0], bytes[1]) {
        case (0x0B, 0x77), (0x77, 0x0B), (0xAC, 0x40), (0xAC, 0x41): return true
        case (0x56, 0xE0...0xFF): return true
        case (0xFF, 0xE0...0xFF):
            if bytes[1] & 0xF6 == 0xF0 {
                return bytes[2] >> 2 & 0x0F < 13
            }
            let version = bytes[1] >> 3 & 3
            let layer = bytes[1] >> 1 & 3
            return version != 1 && layer != 0 && bytes[2] >> 4 != 15 && bytes[2] >> 2 & 3 != 3
        default: return false
        }
    }

    /// True if a frame of ADTS is followed by another: a segment may begin inside a frame, and players look for the next.
    private static func hasAudioFrames(_ bytes: [UInt8]) -> Bool {
        func isFrame(_ offset: Int) -> Bool {
            offset + 6 < bytes.count && bytes[offset] == 0xFF && bytes[offset + 1] & 0xF6 == 0xF0
                && bytes[offset + 2] >> 2 & 0x0F < 13
        }
        return bytes.indices.contains { offset in
            guard isFrame(offset) else { return false }
            let length = Int(bytes[offset + 3] & 3) << 11 | Int(bytes[offset + 4]) << 3 | Int(bytes[offset + 5] >> 5)
            return length >= 7 && isFrame(offset + length) && bytes[offset + 2] == bytes[offset + length + 2]
        }
    }

    /// Matroska and WebM, Ogg, FLAC, FLV, WAV, DTS, program streams, and video elementary streams.
    private static func isContainer(_ bytes: [UInt8]) -> Bool {
        let beginnings: [[UInt8]] = [
            [0x7F, 0xFE, 0x80, 0x01], [0x1A, 0x45, 0xDF, 0xA3], Array("OggS".utf8), Array("fLaC".utf8),
            Array("FLV\u{1}".utf8), [0, 0, 1],
            [0, 0, 0, 1],
        ]
        return beginnings.contains { bytes.starts(with: $0) }
            || bytes.starts(with: "RIFF".utf8) && bytes.dropFirst(8).starts(with: "WAVE".utf8)
    }
}
