/// What is the same in all ADTS frames of a stream that one decoder plays through (ISO/IEC 13818-7 §6.2.1).
public struct ADTSHeader: Hashable, Sendable, CustomStringConvertible {
    /// Whether it is of MPEG-2 instead of MPEG-4.
    let isMPEG2: Bool
    /// MPEG-4's audio object type: 2 is AAC-LC.
    let objectType: UInt8
    /// Place in the standard's table of sampling rates, from 0 for 96 kHz to 12 for 7350 Hz.
    let rateIndex: UInt8
    /// MPEG-4's channel configuration: 1 to 6 channels, or 7 for eight.
    let channels: UInt8

    private static let count = 7
    private static let rates = [
        96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
    ]

    /// Reads the header of the frame at a place.
    init(_ source: ByteSource, at position: Int) throws(SegmentFormatError) {
        func fault(_ code: SegmentFormatError.Code, _ reason: String) -> SegmentFormatError {
            SegmentFormatError(code, in: "ADTS", at: min(position, source.count), reason)
        }
        guard source.count - position >= Self.count else { throw fault(.truncated, "there is no frame") }
        let bytes = try source.bytes(position..<(position + Self.count)).bytes
        // Twelve bits of ones, a bit for the version, and a layer of 0.
        guard bytes[0] == 0xFF, bytes[1] & 0xF6 == 0xF0 else { throw fault(.badValue, "this is no frame of AAC") }
        isMPEG2 = bytes[1] & 0x08 != 0
        (objectType, rateIndex) = (bytes[2] >> 6 + 1, bytes[2] >> 2 & 0x0F)
        channels = (bytes[2] & 1) << 2 | bytes[3] >> 6
        guard rateIndex < Self.rates.count else { throw fault(.badValue, "its sampling rate is none") }
        guard channels > 0 else { throw fault(.badValue, "its channels are told within the frame") }
        let length = Int(bytes[3] & 3) << 11 | Int(bytes[4]) << 3 | Int(bytes[5] >> 5)
        guard length > Self.count else { throw fault(.badSize, "its length is \(length)") }
        guard length <= source.count - position else { throw fault(.truncated, "its length is \(length)") }
    }

    /// As in "MPEG-4 AAC of object type 2 at 48000 Hz in channel configuration 1".
    public var description: String {
        "MPEG-\(isMPEG2 ? 2 : 4) AAC of object type \(objectType) at \(Self.rates[Int(rateIndex)]) Hz"
            + " in channel configuration \(channels)"
    }
}
