import SafeText
import Testing

@testable import HTTPMessage

@Suite struct CMCDTests {
    private func head(_ target: String, _ fields: String...) throws -> RequestHead {
        let lines = ["GET \(target) HTTP/1.1", "Host: localhost"] + fields
        return try RequestHead(parsing: lines.joined(separator: "\r\n") + "\r\n\r\n")
    }

    @Test func supportedKeysAreReadAndOthersSkipped() {
        let data = CMCD("bl=21300,br=3200,bs,com.example-x=\"a,bs\",d=4004,pr=1.08,sid=\"6e2fb550-c457\",su".utf8)
        #expect(data.bufferLength == 21.3)
        #expect(data.wasStarved && data.isUrgent)
        #expect(data.playbackRate == 1.08)
        #expect(data.sessionID == "6e2fb550-c457")
    }

    @Test(arguments: [
        ("", CMCD()), (",,,", CMCD()), ("bl", CMCD()), ("bl=", CMCD()), ("bl=-1", CMCD()), ("bl=1e9", CMCD()),
        ("bl=.5", CMCD()), ("bl=1.2.3", CMCD()), ("bl=99999999999999999999", CMCD()), ("pr=fast", CMCD()),
        ("bs=?0", CMCD()), ("su=false", CMCD()), ("x=\"bs,su", CMCD()), ("x=\"\\\",bs\"", CMCD()), ("BS", CMCD()),
        ("sid=abc", CMCD()), ("sid=\"", CMCD()),
    ])
    func malformedValuesAreIgnored(text: String, expected: CMCD) {
        #expect(CMCD(text.utf8) == expected)
    }

    @Test func versionTwoHasListsStatesAndCounters() {
        let data = CMCD(
            "bl=(21300;v 19000;a),bs,bsa=(3;v 2),bsda=(4500),dfa=7,msd=350,pt=12500,sta=p,pr=1.5,sid=\"s\",v=2,e=t".utf8
        )
        #expect(data.bufferLength == 19 && data.stalls == 3 && data.stallTime == 4.5 && data.framesDropped == 7)
        #expect(data.startup == 0.35 && data.playhead == 12.5 && data.state == .playing && data.playbackRate == 1.5)
        #expect(CMCD("bl=(),sta=x,pt=-1,bsa=(a b),dfa=NaN,msd=".utf8) == CMCD())
        #expect(CMCD("pt=999999999999999".utf8).playhead == 4e7)
    }

    @Test func booleansHaveEitherSpelling() {
        for text in ["bs", "bs=?1", " bs=true\t", "a=1, bs"] {
            #expect(CMCD(text.utf8).wasStarved, "\(text)")
        }
    }

    @Test func largeNumbersAreClamped() {
        let data = CMCD("bl=999999999999,pr=4000,sid=\"\(String(repeating: "a", count: 900))\"".utf8)
        #expect(data.bufferLength == 86_400)
        #expect(data.playbackRate == 16)
        #expect(data.sessionID?.count == 64)
    }

    @Test func controlsAndEscapesAreRemoved() {
        #expect(CMCD("sid=\"a\\\"b\\\\c\u{7}\u{e9}d\"".utf8).sessionID == "a\"b\\cd")
    }

    @Test func theFourFieldsAndTheQueryAreReadTogether() throws {
        let head = try head(
            "/a/b?x=1&CMCD=sid%3D%22q%22%2Cbl%3D4000", "cmcd-request: su", "CMCD-Status: bs", "CMCD-Object: d=1",
            "CMCD-Session: pr=2", "CMCD-Elsewhere: bl=1000", "CMCX-Status: bl=7")
        let data = try #require(head.clientData)
        #expect(data == CMCD("sid=\"q\",bl=4000,su,bs,pr=2".utf8))
        #expect(try self.head("/a?cmcd=bs", "X-CMCD-Status: bs").clientData == nil)
        #expect(try self.head("/a?CMCD=%zz").clientData == nil)
    }

    @Test(
        arguments: [
            (nil, nil), ("", ""), ("a=1", "a=1"), ("CMCD=bs", nil), ("a=1&CMCD=bs%2Csu&b=2", "a=1&b=2"),
            ("CMCD", nil), ("%43MCD=bs&a", "a"), ("CMCD=1&CMCD=2", nil),
            ("aCMCD=1&CMCDb=2", "aCMCD=1&CMCDb=2"), ("a=%43&&", "a=%43&&"),
            ("token=C%2F", "token=C%2F"), ("CMCD=bs&", ""),
        ] as [(String?, String?)])
    func aQueryLosesThisAndNothingElse(query: String?, expected: String?) {
        #expect(CMCD.removed(from: query) == expected)
    }
}
