import Testing

@testable import Sharing

@Suite struct XMLElementTests {
    @Test func elementsHaveNamesAttributesTextAndChildren() throws {
        let root = try #require(
            XMLElement(
                Array(
                    """
                    <?xml version="1.0" encoding="UTF-8"?>
                    <!-- a > comment -->
                    <p:Package xmlns:p="http://x/y">
                      <Stream ID = 'a&amp;b' Path="&#x41;&#66;"><Complete> YES </Complete></Stream>
                      <Stream ID="2"/>
                      a &lt; b<!-- in between --> &gt; c
                    </p:Package >
                    """.utf8)))
        #expect(root.name == "Package" && root.text == "a < b > c")
        #expect(root.all("Stream").map { $0.attributes["ID"] } == ["a&b", "2"])
        #expect(root.child("Stream")?.attributes["Path"] == "AB")
        #expect(root.child("Stream")?.child("Complete")?.text == "YES")
    }

    @Test(arguments: [
        "", "text", "<a>", "<a></b>", "<a b></a>", "<a b=c></a>", "<a b=\"c></a>", "<a>&unknown;</a>",
        "<a>&#xD800;</a>",
        "<a/><b/>", "<a>\u{0}</a>", "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>",
        "<!DOCTYPE a [<!ENTITY x \"yy\"><!ENTITY z \"&x;&x;\">]><a>&z;</a>",
        "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", "<a", "</a>", "<a>&amp</a>", "<?xml", "<!--",
        String(repeating: "<a>", count: 40) + String(repeating: "</a>", count: 40),
    ])
    func whatIsNoXMLOfThisKindIsRefused(text: String) { #expect(XMLElement(Array(text.utf8)) == nil) }

    /// FoundationXML ends the process for the first one, which the fuzzer has found.
    @Test(arguments: [
        [0xD1, 0xF5, 0xFE, 0xFF, 0xFF, 0x3C, 0xFF, 0xC4], [0x3C, 0xFF, 0x2F, 0x3E],
        [0xFF, 0xFE, 0x3C, 0x00, 0x61, 0x00],
    ])
    func otherEncodingsAreRefused(bytes: [UInt8]) { #expect(XMLElement(bytes) == nil) }
}
