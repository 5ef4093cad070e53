import Testing

@testable import HLS

@Suite("A list of assets")
struct AssetListTests {
    private static let text = """
        { "ASSETS" : [
          {"URI": "https:\\/\\/ads.example.com\\/a.m3u8?x=\\u0026\\ud83c\\udfac", "DURATION": 15.0},
          {"DURATION": -1.5e3, "X-URI": "no", "\\u0055RI":"b/ü.m3u8", "X": {"URI": "no"}, "Y": [true, false, null, []]}
        ], "URI": "no", "SKIP-CONTROL": {"OFFSET": 2, "URI": "no"}}

        """

    @Test("returns only the URIs of its assets")
    func uris() throws {
        let list = try AssetList(Array(Self.text.utf8))
        #expect(list.uris == ["https://ads.example.com/a.m3u8?x=&🎬", "b/ü.m3u8"])
    }

    @Test("keeps everything except renamed URIs byte for byte")
    func rendered() throws {
        let list = try AssetList(Array(Self.text.utf8))
        #expect(try list.rendered { _ in nil } == Array(Self.text.utf8))
        let renamed = String(decoding: try list.rendered { $0 == 1 ? "/a/x\\1.m3u8" : nil }, as: UTF8.self)
        #expect(renamed == Self.text.replacing("\"b/ü.m3u8\"", with: "\"/a/x\\\\1.m3u8\""))
        #expect(try AssetList(Array(renamed.utf8)).uris[1] == "/a/x\\1.m3u8")
        for name in ["\"", "a\nb", "", "\u{2028}"] {
            let error = try #require(throws: PlaylistError.self) { try list.rendered { _ in name } }
            #expect(error.code == .unsafeName)
        }
    }

    @Test("is written without some of its assets")
    func keeping() throws {
        let list = try AssetList(Array(Self.text.utf8))
        let none = String(decoding: try list.rendered(keeping: { _ in false }) { _ in nil }, as: UTF8.self)
        #expect(none.hasPrefix("{ \"ASSETS\" : [], \"URI\": \"no\""), "\(none)")
        let one = try list.rendered(keeping: { $0 == 1 }) { _ in "one.m3u8" }
        #expect(try AssetList(one).uris == ["one.m3u8"])
        #expect(String(decoding: one, as: UTF8.self).contains("\"DURATION\": -1.5e3"))
        #expect(try list.rendered(keeping: { _ in true }) { _ in nil } == Array(Self.text.utf8))
    }

    @Test(
        "may be empty", arguments: ["{\"ASSETS\":[]}", " {\"X\":[1], \"ASSETS\" : [ \n ] }\n"])
    func empty(_ text: String) throws {
        let list = try AssetList(Array(text.utf8))
        #expect(list.uris == [])
        #expect(try list.rendered { _ in "/a/x.m3u8" } == Array(text.utf8))
    }

    @Test(
        "is rejected if it is not valid JSON or has no URI",
        arguments: [
            "", "{", "[]", "{}", "{\"ASSETS\":{\"URI\":\"a\"}}", "{\"ASSETS\":[{\"URI\":1}]}", "{\"ASSETS\":[\"a\"]}",
            "{\"ASSETS\":[{\"URI\":\"a\"}]} x",
            "{\"ASSETS\":[{\"URI\":\"a\"},]}", "{\"ASSETS\":[{\"URI\":\"a\\x\"}]}",
            "{\"ASSETS\":[{\"URI\":\"\\ud800\"}]}",
            "{\"ASSETS\":[{\"URI\":\"a\n\"}]}", "{\"ASSETS\" [{\"URI\":\"a\"}]}", "{ASSETS:[{\"URI\":\"a\"}]}",
            "{\"ASSETS\":[{\"URI\":\"a\",\"D\":01x}]}", "{\"ASSETS\":[{\"URI\":\"a\",\"D\":+1}]}", "<html>",
            "{\"ASSETS\":[{\"URI\":\"a\",\"D\":tru}]}", "{\"ASSETS\":[{\"URI\":\"a", "{\"ASSETS\":[{\"URI\":\"a\\",
        ])
    func malformed(_ text: String) throws {
        let error = try #require(throws: PlaylistError.self) { try AssetList(Array(text.utf8)) }
        #expect(error.code == .badAssetList)
    }

    @Test("is rejected if nested too deeply or too large, and reports the line of an error")
    func limits() throws {
        let depth = 200_000
        let arrays = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let objects = String(repeating: "{\"a\":", count: depth / 2) + "1" + String(repeating: "}", count: depth / 2)
        let asset = "{\"ASSETS\": [{\"URI\": \"a.m3u8\", "
        for deep in [arrays, objects, asset + "\"X\": \(arrays)}]}", String(repeating: "[", count: depth)] {
            #expect(try #require(throws: PlaylistError.self) { try AssetList(Array(deep.utf8)) }.code == .badAssetList)
        }
        let number = asset + "\"DURATION\": " + String(repeating: "9", count: depth) + "}]}"
        #expect(try AssetList(Array(number.utf8)).uris == ["a.m3u8"])
        let half = "{\"ASSETS\": [{\"URI\": \"\\ud800.m3u8\", \"DURATION\": -1}]}"
        #expect(throws: PlaylistError.self) { try AssetList(Array(half.utf8)) }
        let many = (0..<100_000).map { "{\"URI\":\"a\($0)\",\"DURATION\":1e308}" }.joined(separator: ",")
        #expect(throws: PlaylistError.self) { try AssetList(Array("{\"ASSETS\": [\(many)]}".utf8)) }
        let large = [UInt8](repeating: 0x20, count: 1 << 20 + 1)
        #expect(try #require(throws: PlaylistError.self) { try AssetList(large) }.code == .overLimit)
        #expect(try #require(throws: PlaylistError.self) { try AssetList(Array("{\n\n!".utf8)) }.line == 3)
    }
}
