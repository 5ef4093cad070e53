import Testing

@testable import SegmentFormat

@Suite("Times")
struct TimesTests {
    @Test("of a segment follow from its boxes and its edit list")
    func readsFixtureTimes() throws {
        let section = try InitializationSection(Fixture.bytes("cmaf/video-180p/init.mp4"))
        for number in 0..<12 {
            let segment = try MediaSegment(ByteSource(try Fixture.bytes("cmaf/video-180p/\(number).m4s")))
            let times = try #require(segment.times(of: section).first)
            #expect(times.count == 10 && times.frame == MediaTime(ticks: 1024, timescale: 10_240))
            #expect(times.decodeStart.ticks == Int64(number) * 10_240)
            // ffmpeg delays the timeline by the decoder's lag of two frames.
            #expect(times.start.ticks == Int64(number) * 10_240 + 2048)
            #expect(times.end.ticks == times.start.ticks + 10_240)
        }
    }

    @Test("of two timescales agree within half a frame")
    func agreesWithinHalfAFrame() {
        let frame = MediaTime(ticks: 1, timescale: 10)
        func time(_ ticks: Int64, _ timescale: UInt32) -> MediaTime { MediaTime(ticks: ticks, timescale: timescale) }
        #expect(time(90_000, 90_000).agrees(with: time(1000, 1000), frame: frame))
        #expect(time(90_000, 90_000).agrees(with: time(1050, 1000), frame: frame))
        #expect(!time(90_000, 90_000).agrees(with: time(1051, 1000), frame: frame))
        #expect(time(-50, 1000).agrees(with: time(0, 7), frame: frame))
        #expect(!time(.max, 1).agrees(with: time(.min, .max), frame: frame))
        #expect(!time(.max, .max).agrees(with: time(.min, .max), frame: time(1, .max)))
        #expect(!time(0, 1).agrees(with: time(0, 1), frame: time(-1, 1)))
        #expect(time(3, 0).seconds == 3)
    }

    @Test("are omitted without a tfdt")
    func omitsTrackWithoutDecodeTime() throws {
        var bytes = HandMadeSegment().bytes
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("tfdt".utf8)) })
        bytes.replaceSubrange(place..<(place + 4), with: Array("free".utf8))
        #expect(try MediaSegment(ByteSource(bytes)).times(of: try HandMadeSection().section) == [])
    }
}
