import SafeText
import Testing

@testable import HLS

@Suite("An attribute list")
struct AttributeListTests {
    private func list(_ text: String) throws -> AttributeList { AttributeList(Array(text.utf8)) }

    @Test(
        "accepts the blanks, commas and quotes that occur in practice",
        arguments: [
            ("", []),
            ("A=1", [("A", "1")]),
            ("A=1,B=\"x,y=z\"", [("A", "1"), ("B", "x,y=z")]),
            (" A = 1 ,\tB=\"\" , ", [("A", "1"), ("B", "")]),
            ("A=,B=2,,C=3,", [("A", ""), ("B", "2"), ("C", "3")]),
            ("X-com.vendor_a=0x1F,URI=k?a=b", [("X-com.vendor_a", "0x1F"), ("URI", "k?a=b")]),
            ("A=a b\"c", [("A", "a b\"c")]),
        ] as [(String, [(String, String)])])
    func split(_ text: String, _ expected: [(String, String)]) throws {
        let attributes = try list(text)
        #expect(attributes.names == expected.map(\.0))
        for (name, value) in expected {
            #expect(attributes[name] == value)
        }
    }

    @Test(
        "skips what is malformed, and says so",
        arguments: [
            ("A", []), ("A=1,B", ["A"]), ("=1", []), ("A=\"x,B=2", ["A", "B"]), ("A=\"x\"y,B=2", ["A", "B"]),
            ("A=1,B=3,A=2", ["B", "A"]), ("Ä=1,B=2", ["B"]), ("A 1=2", []), ("\"A\"=1", []),
        ] as [(String, [String])])
    func malformed(_ text: String, _ names: [String]) throws {
        let attributes = try list(text)
        #expect(attributes.names == names)
        #expect(attributes.fault?.code == .malformedAttributes)
        #expect(attributes.fault?.line == 1)
        if names.contains("B"), names.contains("A"), names.first == "B" {
            #expect(attributes["A"] == "2")
        }
    }

    @Test("is rejected above the attribute limit")
    func limit() throws {
        let names = (0..<128).map { "A\($0)=" }.joined(separator: ",")
        #expect(try list(names).names.count == 128)
        let more = try list(names + ",B=")
        #expect(more.names.count == 128 && more.fault?.code == .overLimit)
        #expect(more.fault?.reason.contains("128") ?? false)
    }

    @Test("returns values of each type, and nil for absent attributes")
    func numbers() throws {
        let attributes = try list(
            "I=9223372036854775807,F=29.97,Q=\"3\",H=0xAb0,R=1280x720,B=\"5@7\",E=\"5@\",C=5,FRACTION=12.9")
        #expect(try attributes.decimalInteger("I") == .max)
        #expect(try attributes.decimalInteger("Q") == 3)
        #expect(try attributes.decimalInteger("FRACTION") == 12)
        #expect(try attributes.ratio("F") == 29.97)
        #expect(try attributes.hexadecimal("H") == [0x0A, 0xB0])
        #expect(try attributes.resolution("R") == Resolution(width: 1280, height: 720))
        #expect(try attributes.subRange("B") == SubRange(offset: 7, length: 5))
        // As libavformat reads it.
        #expect(try attributes.subRange("E") == SubRange(offset: 0, length: 5))
        #expect(try attributes.subRange("C") == SubRange(offset: 0, length: 5))
        #expect(try attributes.decimalInteger("NONE") == nil)
        #expect(try attributes.hexadecimal("NONE") == nil)
    }

    @Test(
        "rejects values of another type",
        arguments: [
            "A=9223372036854775808", "A=-1", "A=+1", "A=1e5", "A=", "A=x", "A=0x", "A=0xG", "A=1x", "A=x1",
            "A=@1", "A=1@9223372036854775807", "A=0@0", "A=4398046511105@0",
        ])
    func badValues(_ text: String) throws {
        let attributes = try list(text)
        #expect(throws: PlaylistError.self) { try attributes.decimalInteger("A") }
        #expect(throws: PlaylistError.self) { try attributes.hexadecimal("A") }
        #expect(throws: PlaylistError.self) { try attributes.resolution("A") }
        #expect(throws: PlaylistError.self) { try attributes.subRange("A") }
    }

    @Test(
        "removes an attribute together with one comma",
        arguments: [
            ("A=1,B=2,C=3", ["A"], "B=2,C=3"),
            ("A=1,B=2,C=3", ["B"], "A=1,C=3"),
            ("A=1,B=2,C=3", ["C"], "A=1,B=2"),
            ("A=1, B=2 , C=3", ["A", "B"], "C=3"),
            ("A=1, B=2 , C=3", ["B", "C"], "A=1"),
            ("A=1,B=\"x\",C=3,D=4", ["B", "D"], "A=1,C=3"),
            ("A=1,B=2,C=3,D=4", ["A", "C"], "B=2,D=4"),
            ("A=1", ["A", "Z"], ""),
        ])
    func removal(_ text: String, _ names: [String], _ expected: String) throws {
        let playlist = try PlaylistText(Array("#EXTM3U\n#EXT-X-MEDIA:\(text)\n".utf8))
        var edits = AttributeEdits()
        for name in names {
            edits.set(name, .removed)
        }
        var writer = TextWriter(playlist)
        try edits.apply(to: playlist.attributes(1), &writer)
        #expect(String(decoding: writer.finished(), as: UTF8.self) == "#EXTM3U\n#EXT-X-MEDIA:\(expected)\n")
    }

    @Test("keeps order and blanks when values change and attributes are added")
    func change() throws {
        let playlist = try PlaylistText(Array("#EXTM3U\r\n#EXT-X-MEDIA: A=1 , URI=old,B=\"2\", \r\n".utf8))
        var edits = AttributeEdits()
        edits.set("URI", .quoted("new"))
        edits.set("B", .enumerated("YES"))
        edits.set("C", .enumerated("NO"))
        edits.set("D", .quoted("d,e"))
        var writer = TextWriter(playlist)
        try edits.apply(to: playlist.attributes(1), &writer)
        let expected = "#EXTM3U\r\n#EXT-X-MEDIA: A=1 , URI=\"new\",B=YES,C=NO,D=\"d,e\", \r\n"
        #expect(String(decoding: writer.finished(), as: UTF8.self) == expected)
    }
}
