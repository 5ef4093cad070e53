import TestSupport
import Testing

@testable import HLS

@Suite struct AttributeMenderTests {
    private func mender(_ tag: String, _ text: String) throws -> AttributeMender {
        AttributeMender(tag: try #require(Tag(rawValue: "#EXT-X-\(tag)")), list: AttributeList(Array(text.utf8)))
    }

    @Test(arguments: [
        ("STREAM-INF", #"BANDWIDTH=1,CODECS="avc1.640028,mp4a.40.2",RESOLUTION=1920x1080,FRAME-RATE=25.000,AUDIO="a""#),
        ("STREAM-INF", "CLOSED-CAPTIONS=NONE,BANDWIDTH=1,HDCP-LEVEL=NONE"), ("STREAM-INF", ""),
        ("MEDIA", #"TYPE=AUDIO,GROUP-ID="a",NAME="b",DEFAULT=YES,AUTOSELECT=NO,URI="c.m3u8""#),
        ("I-FRAME-STREAM-INF", #"BANDWIDTH=1,URI="a.m3u8""#),
    ])
    func wellFormedListsAreFoundAtOnce(tag: String, text: String) throws {
        #expect(try mender(tag, text).isWellFormed)
    }

    @Test(arguments: [
        ("STREAM-INF", "BANDWIDTH=1,RESOLUTION=1920X1080"), ("STREAM-INF", "BANDWIDTH=1,RESOLUTION=01920x1080"),
        ("STREAM-INF", "BANDWIDTH=1, AUDIO=\"a\""), ("STREAM-INF", "bandwidth=1"), ("STREAM-INF", "BANDWIDTH=\"1\""),
        ("STREAM-INF", "BANDWIDTH=1,CODECS=avc1"), ("I-FRAME-STREAM-INF", "BANDWIDTH=1"),
        ("I-FRAME-STREAM-INF", "BANDWIDTH=1,URI=\"\""), ("MEDIA", "TYPE=AUDIO,NAME=\"b\""),
        ("MEDIA", "TYPE=SOUND,GROUP-ID=\"a\""), ("MEDIA", "TYPE=AUDIO,GROUP-ID=\"a\",DEFAULT=yes"),
    ])
    func othersAreNot(tag: String, text: String) throws {
        var mender = try mender(tag, text)
        #expect(!mender.isWellFormed)
        mender.mend()
        #expect(mender.value != nil || mender.missing != nil)
    }

    /// Lists of one to three random attributes, well-formed ones among them, of which some have bytes changed.
    @Test func whatIsWellFormedIsNotMended() {
        var dice = SeededDice(state: 20)
        let names = [
            "BANDWIDTH", "CODECS", "RESOLUTION", "FRAME-RATE", "AUDIO", "HDCP-LEVEL", "TYPE", "GROUP-ID", "NAME", "URI",
            "DEFAULT", "CHANNELS", "CLOSED-CAPTIONS", "Name", "X-OWN",
        ]
        let values = [
            "1280000", "\"a,b\"", "1280x720", "1280*720", "01x2", "25.000", "YES", "no", "AUDIO", "VIDEO", "SUBTITLES",
            "CLOSED-CAPTIONS", "NONE", "\"\"", "\" \"", "-1", "1e3", "", "99999999999999999999", "\"NONE\"",
        ]
        let spares = Array(" ,=\"xX0-".utf8)
        var found = 0
        for _ in 0..<6_000 {
            let attributes = (1...Int.random(in: 1...3, using: &dice)).map { _ in
                "\(names.randomElement(using: &dice) ?? "")=\(values.randomElement(using: &dice) ?? "")"
            }
            var text = Array(attributes.joined(separator: ",").utf8)
            if Bool.random(using: &dice) {
                text[Int.random(in: text.indices, using: &dice)] = spares.randomElement(using: &dice) ?? 0
            }
            for tag in [Tag.streamInf, .media, .iFrameStreamInf] {
                var mender = AttributeMender(tag: tag, list: AttributeList(text))
                guard mender.isWellFormed else { continue }
                found += 1
                mender.mend()
                #expect(
                    mender.value == nil && mender.faults.isEmpty && mender.missing == nil,
                    "\(tag.rawValue):\(String(decoding: text, as: UTF8.self))")
            }
        }
        #expect(found > 200)
    }
}
