import HTTPMessage
import Testing

@testable import Assets
@testable import Fetching

@Suite struct InterstitialsTests {
    @Test func aNameAndItsURLAreInverse() throws {
        var interstitials = Interstitials()
        let url = try WebURL("https://ads.example/a.m3u8?token=secret")
        let name = interstitials.name(url, .presentation)
        #expect(interstitials.name(url, .presentation) == name)
        #expect(interstitials.url(name) == url)
        #expect(name.description.hasSuffix(".m3u8") && name.description.utf8.count <= 18)
        #expect(!name.description.contains("secret"))
        var others = Interstitials()
        #expect(others.url(name) == nil)
        #expect(others.name(url, .presentation) == name)
        let list = others.name(url, .list)
        #expect(list != name && list.description.hasSuffix(".json"))
        #expect(others.name(try WebURL("https://ads.example/a.m3u8"), .presentation) != name)
        for name in [name, list] {
            #expect(Interstitials.Name(name.description) == name)
        }
    }

    @Test(
        arguments: [
            "", ".", ".m3u8", "1", "1.", "1.ts", "1.m3u8.m3u8", "01.m3u8", "+1.json", "-1.json", "1A.json", "é.json",
            "1.JSON", "1k3f9zzzzzzzzzzz.json", "media.m3u8.json", " 1.json",
        ])
    func anyOtherSpellingIsNoName(_ text: String) {
        #expect(Interstitials.Name(text) == nil)
    }

    @Test func keepsALimitedNumberOfInterstitialNames() throws {
        var interstitials = Interstitials()
        let names = try (0..<1500).map { number in
            interstitials.name(try WebURL("https://ads.example/\(number).m3u8"), .presentation)
        }
        #expect(Set(names).count == 1500)
        #expect(names.suffix(1024).allSatisfy { interstitials.url($0) != nil })
        #expect(names.prefix(476).allSatisfy { interstitials.url($0) == nil })
    }
}
