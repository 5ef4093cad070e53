import Foundation
import Testing

@testable import Sharing

@Suite struct ContainerLossTests {
    private func stream(_ json: String) throws -> MediaProbe.Stream {
        try JSONDecoder().decode(MediaProbe.Stream.self, from: Data(json.utf8))
    }

    private func video(
        _ packets: Int, codec: String = "h264", tag: String = "avc1", parameters: String = "a", height: Int = 180
    ) throws -> MediaProbe.Stream {
        try stream(
            """
            {"codec_type":"video","codec_name":"\(codec)","codec_tag_string":"\(tag)","width":320,"height":\(height),\
            "extradata_hash":"\(parameters)","nb_read_packets":"\(packets)","disposition":{"attached_pic":0}}
            """)
    }

    private func sound(_ packets: Int, rate: Int = 44_100) throws -> MediaProbe.Stream {
        try stream(
            """
            {"codec_type":"audio","codec_name":"aac","sample_rate":"\(rate)","channels":2,"nb_read_packets":"\(packets)"}
            """)
    }

    private func run(_ start: Double, _ streams: MediaProbe.Stream..., container: String = "fragmented MP4")
        -> ContainerLoss.Run
    {
        ContainerLoss.Run(start: start, container: container, streams: streams)
    }

    private func loss(
        _ renditions: [ContainerLoss.Rendition], _ written: MediaProbe.Stream..., isSoundOnly: Bool = false
    ) -> ContainerLoss {
        ContainerLoss(renditions, in: "film.mkv", written: written, isSoundOnly: isSoundOnly)
    }

    @Test func nothingIsLostWhereEveryPacketIsThereAndItsDecoderKnowsIt() throws {
        let renditions = [
            [run(0, try video(40)), run(2, try video(40)), run(4, try video(10, tag: "avc3", parameters: "b"))],
            [run(0, try sound(88))], [run(0, try sound(88))],
        ]
        #expect(loss(renditions, try video(90), try sound(88), try sound(88)).message == nil)
        // Transport stream has its parameters between the pictures.
        for tag in ["[27][0][0][0]", "HEVC"] {
            let transport = [[run(0, try video(5, tag: tag)), run(2, try video(5, tag: tag, parameters: "b"))]]
            #expect(loss(transport, try video(10)).message == nil, "\(tag)")
        }
    }

    @Test func missingPacketsAreCounted() throws {
        let found = loss([[run(0, try video(120), try sound(90))]], try video(119), try sound(90))
        #expect(found.message == "film.mkv plays only 119 of 120 pictures" && !found.isByChanges)
        #expect(loss([[run(0, try video(120), try sound(90))]], try sound(90), isSoundOnly: true).message == nil)
    }

    @Test func picturesThatNoDecoderKnowsAreLostAlthoughTheyAreWritten() throws {
        let renditions = [
            [
                run(0, try video(40), try sound(88)),
                run(3602, try video(40, parameters: "b", height: 270), try sound(88, rate: 48_000)),
                run(3604, try video(20, codec: "hevc", tag: "hvc1")),
            ]
        ]
        let found = loss(renditions, try video(100), try sound(176))
        #expect(found.isByChanges)
        #expect(
            found.message == """
                film.mkv plays only 40 of 100 pictures and 88 of 176 packets of sound: at 1:00:02 H.264 320x180 changes to \
                H.264 320x270, the first of 2 changes
                """)
    }

    @Test func aCodecThatTheFormatRefusesIsNamed() throws {
        let found = loss([[run(0, try video(80, codec: "av1", tag: "av01"), try sound(9))]], try sound(9))
        #expect(
            found.message == "film.mkv plays only 0 of 80 pictures: the format cannot hold av1 320x180"
                && !found.isByChanges)
    }

    @Test func anotherContainerIsNamed() throws {
        let renditions = [[run(0, try video(40)), run(2, try video(40, tag: "[27][0][0][0]"), container: "MPEG-TS")]]
        #expect(
            loss(renditions, try video(40)).message
                == "film.mkv plays only 40 of 80 pictures: at 0:02 fragmented MP4 changes to MPEG-TS")
    }
}
