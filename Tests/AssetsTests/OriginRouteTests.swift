import Origin
import Testing

@testable import Assets

struct OriginRouteTests {
    @Test func aRecordReadsBackAsItself() throws {
        var route = OriginRoute()
        #expect(route.record == nil && OriginRoute(record: nil) == route)
        route.proxy = try ProxyChoice("socks5h://anna:p%40ss@h:1")
        route.allowedHosts = [try AllowedHost("nas.lan:9000"), try AllowedHost("10.0.0.0/8")]
        route.isInsecure = true
        route.certificate = "/c"
        route.key = "/k"
        route.certificateHosts = [try #require(FieldHost("*.cdn.example"))]
        route.firstClass = .private
        #expect(OriginRoute(record: route.record) == route)
        #expect(!"\(route)".contains("anna"))
        var direct = OriginRoute()
        direct.proxy = .direct
        #expect(OriginRoute(record: direct.record) == direct)
    }

    @Test func aCertificateOfAnEarlierRecordGoesToEveryHostAsItDid() throws {
        let record = "{\"certificate\":\"/c\"}"
        var expected = OriginRoute()
        expected.certificate = "/c"
        expected.certificateHosts = [.everyHost]
        #expect(OriginRoute(record: record) == expected)

        var new = OriginRoute()
        new.certificate = "/c"
        #expect(OriginRoute(record: new.record).certificateHosts.isEmpty)
    }

    /// A later version may write more, or what this one cannot read.
    @Test func anUnknownSettingIsLeftOut() throws {
        let record = "{\"proxy\":\"quic://h\",\"allowedHosts\":[\"a b\",\"nas\"],\"other\":1,\"firstClass\":\"x\"}"
        var expected = OriginRoute()
        expected.allowedHosts = [try AllowedHost("nas")]
        #expect(OriginRoute(record: record) == expected)
    }
}
