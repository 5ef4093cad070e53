import Foundation
import Store

/// Reads with ffprobe which streams a playlist or a file has, and how many packets.
struct MediaProbe: Sendable {
    /// A stream of pictures or sound.
    struct Stream: Decodable, Equatable, Sendable {
        enum CodingKeys: String, CodingKey {
            case kind = "codec_type"
            case codec = "codec_name"
            case tag = "codec_tag_string"
            case width
            case height
            case rate = "sample_rate"
            case channels
            case parameters = "extradata_hash"
            case count = "nb_read_packets"
            case disposition
        }

        private struct Disposition: Decodable, Equatable {
            enum CodingKeys: String, CodingKey {
                case isPicture = "attached_pic"
            }

            let isPicture: Int?
        }

        /// `video`, `audio` and others.
        var kind: String?
        var codec: String?
        /// The format of the sample entry, or a number in brackets for media without one.
        var tag: String?
        var width: Int?
        var height: Int?
        var rate: String?
        var channels: Int?
        /// A digest of the decoder's parameters that precede the media.
        var parameters: String?
        /// The number of packets.
        var count: String?
        private var disposition: Disposition?

        var packets: Int {
            guard let count, let number = Int(count) else { return 0 }
            return number
        }
        /// True for a picture that is no film, such as the cover of an album.
        var isCover: Bool { disposition?.isPicture == 1 }
    }

    private struct Output: Decodable {
        let streams: [Stream]?
    }

    private static let fields = """
        stream=codec_type,codec_name,codec_tag_string,width,height,sample_rate,channels,extradata_hash,nb_read_packets\
        :stream_disposition=attached_pic
        """

    let program: String
    /// The options that name what the program may read.
    let input: [String]

    /// The streams of pictures and sound; none of media that ffprobe cannot read. Blocks.
    func streams(of path: String, in work: Directory) throws(StoreError) -> [Stream] {
        let words = ["-v", "error"] + input + ["-count_packets", "-show_data_hash", "md5"]
        let outcome = try ChildProgram.run(
            program, words + ["-show_entries", Self.fields, "-of", "json", "file:\(path)"], in: work)
        let output = try? JSONDecoder().decode(Output.self, from: Data(outcome.output.utf8))
        let all = output?.streams ?? []
        return all.filter { ["video", "audio"].contains($0.kind) && !$0.isCover }
    }
}
