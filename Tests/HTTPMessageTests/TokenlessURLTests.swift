import HTTPMessage
import Testing

@Suite struct TokenlessURLTests {
    private func isSame(_ one: String, _ other: String) throws -> Bool {
        TokenlessURL(try WebURL("https://host\(one)")) == TokenlessURL(try WebURL("https://host\(other)"))
    }

    @Test(arguments: [
        ("/m.m3u8", "/m.m3u8?token=1"), ("/m.m3u8?token=1", "/m.m3u8?token=2"),
        ("/m.m3u8?id=1&hdnts=exp=1~hmac=2", "/m.m3u8?hdnts=exp=3~hmac=4&id=1"),
        ("/m.m3u8?Policy=a&Signature=b&Key-Pair-Id=c", "/m.m3u8?Policy=d&Signature=e&Key-Pair-Id=f"),
        ("/m.m3u8?X-Amz-Date=1&X-Amz-Signature=2", "/m.m3u8?X-Amz-Date=3"), ("/m.m3u8?st=a&e=1", "/m.m3u8?st=b&e=2"),
        ("/m.m3u8?playbackSessionId=1", "/m.m3u8"),
        ("/0123456789abcdef0123456789abcdef/v/m.m3u8", "/fedcba9876543210fedcba9876543210/v/m.m3u8"),
        ("/eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE3.sIg-_/m.m3u8", "/eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE4.x9g-_/m.m3u8"),
        ("/exp=1700000000~acl=/v/m.m3u8", "/exp=1800000000~acl=/v/m.m3u8"),
        ("/1700000000/m.m3u8", "/1800000000/m.m3u8"),
        ("/AbCdEf0123456789-_xyz,1700000000/m.m3u8", "/GhIjKl9876543210-_xyz,1800000000/m.m3u8"),
        ("/film,AbCdEf0123456789-_xyz/m.m3u8", "/film,GhIjKl9876543210-_xyz/m.m3u8"),
        ("/film,1700000000/m.m3u8", "/film,1800000000/m.m3u8"),
        ("/v/m.m3u8;jsessionid=A1", "/v/m.m3u8;jsessionid=B2"), ("/v/m.m3u8;jsessionid=A1", "/v/m.m3u8"),
    ])
    func tokensAreIgnored(_ one: String, _ other: String) throws {
        #expect(try isSame(one, other))
    }

    @Test(arguments: [
        ("/m.m3u8?id=1", "/m.m3u8?id=2"), ("/m.m3u8", "/m.m3u8?id=2"), ("/a.m3u8?token=1", "/b.m3u8?token=1"),
        ("/m.m3u8?v=1&token=1", "/m.m3u8?v=2&token=1"), ("/m.m3u8?sub=en", "/m.m3u8?sub=de"),
        ("/a/m.m3u8", "/b/m.m3u8"), ("/season-2-episode-14/m.m3u8", "/season-2-episode-15/m.m3u8"),
        ("/the-longest-title-of-all/m.m3u8", "/the-longest-title-of-alm/m.m3u8"), ("/v;q=1/m.m3u8", "/v;q=2/m.m3u8"),
        ("/film,AbCdEf0123456789-_xyz/m.m3u8", "/other,AbCdEf0123456789-_xyz/m.m3u8"), ("/a,b/m.m3u8", "/a,c/m.m3u8"),
        ("/0123456789abcdef0123456789abcdef/v/m.m3u8", "/v/m.m3u8"), ("/0001/m.m3u8", "/0002/m.m3u8"),
    ])
    func otherDifferencesCount(_ one: String, _ other: String) throws {
        #expect(try !isSame(one, other))
    }

    @Test func anotherHostSchemeOrPortIsAnotherURL() throws {
        let url = TokenlessURL(try WebURL("https://host/m.m3u8"))
        for other in ["http://host/m.m3u8", "https://host2/m.m3u8", "https://host:444/m.m3u8"] {
            #expect(TokenlessURL(try WebURL(other)) != url)
        }
    }
}
