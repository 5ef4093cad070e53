import HTTPMessage
import Testing

@testable import Origin

struct AddressRulesTests {
    private func address(_ literal: String, _ port: UInt16 = 80) throws -> SocketAddress {
        try #require(SocketAddress(literal: literal, port: port))
    }

    private func rights(
        _ host: String, _ port: UInt16, named: OriginRequest.Peer? = nil, first: HostClass? = nil,
        allowed: [String] = []
    ) throws -> AddressRights {
        var rights = AddressRights(peer: .init(host: host, port: port))
        rights.namedPeer = named
        rights.firstClass = first
        rights.allowedHosts = try allowed.map { try AllowedHost($0) }
        return rights
    }

    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.9.9.9", "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1",
        "198.19.255.255",
        "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.1.2.3", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1",
        "64:ff9b:1::a00:1", "64:ff9b::", "100::1",
        "2001::1", "2001:1ff::1", "2001:db8::1", "2002:7f00:1::", "2002:c0a8:101::1", "3fff::1", "fc00::1", "fd12::1",
        "fe80::1", "fec0::1", "ff02::1",
    ])
    func specialPurposeAddressIsRefused(literal: String) throws {
        let address = try address(literal)
        #expect(!AddressRules().allows(address, try rights("h", 80)))
        let named = try rights("h", 80, named: .init(host: "h", port: 80))
        #expect(AddressRules().allows(address, named) == !(address.isUnspecified || address.isMulticast))
    }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1",
        "192.0.1.1",
        "192.167.0.1", "198.17.0.1", "223.255.255.255", "2001:200::1", "2606:4700::1111", "2003::1", "3ffe::1",
        "::ffff:1.1.1.1", "64:ff9b::101:101", "64:ff9b:1::101:101", "2002:101:101::1",
    ])
    func publicAddressIsAllowed(literal: String) throws {
        #expect(AddressRules().allows(try address(literal), try rights("h", 80)))
    }

    @Test func ownListenersAreRefusedEvenIfNamed() throws {
        var rules = AddressRules()
        rules.ownListeners = [try address("127.0.0.1", 8216)]
        func allows(_ literal: String, _ port: UInt16) throws -> Bool {
            let allowed = ["0.0.0.0/0", "::/0"]
            return rules.allows(
                try address(literal, port), try rights("h", port, named: .init(host: "h", port: port), allowed: allowed)
            )
        }
        #expect(try !allows("127.0.0.1", 8216))
        #expect(try !allows("::ffff:127.0.0.1", 8216))
        #expect(try allows("127.0.0.1", 8217) && allows("192.168.1.9", 8216))
        rules.ownListeners = [try address("::", 8216)]
        #expect(try !allows("127.0.0.1", 8216) && !allows("192.168.1.9", 8216))
        #expect(try allows("192.168.1.9", 80) && allows("1.1.1.1", 8216))
    }

    /// The named host is nas:8096.
    @Test(
        arguments: [
            ("10.0.0.5", "nas", 8096, nil, true), ("10.0.0.5", "nas", 80, nil, true),
            ("10.0.0.5", "nas", 443, nil, true),
            ("10.0.0.5", "nas", 9000, nil, false), ("10.0.0.5", "other", 8096, nil, false),
            ("127.0.0.1", "nas", 8096, nil, true), ("127.0.0.1", "nas", 80, nil, false),
            ("::1", "nas", 443, nil, false),
            ("10.0.0.5", "nas", 8096, .public, false), ("127.0.0.1", "nas", 8096, .public, false),
            ("1.1.1.1", "nas", 8096, .public, true), ("10.0.0.5", "nas", 8096, .private, true),
            ("10.0.0.5", "nas", 8096, .loopback, true), ("1.1.1.1", "nas", 1, .private, true),
        ] as [(String, String, UInt16, HostClass?, Bool)])
    func aNamedHostMayBePrivate(literal: String, host: String, port: UInt16, first: HostClass?, isAllowed: Bool) throws
    {
        let rights = try rights(host, port, named: .init(host: "nas", port: 8096), first: first)
        #expect(AddressRules().allows(try address(literal, port), rights) == isAllowed)
    }

    /// The named host is nas:8096, and has these addresses.
    @Test(
        arguments: [
            ("10.0.0.5", ["10.0.0.5"], 8096, nil, true), ("10.0.0.5", ["fd00::5", "10.0.0.5"], 80, nil, true),
            ("10.0.0.5", ["10.0.0.5"], 9000, nil, false), ("10.0.0.6", ["10.0.0.5"], 8096, nil, false),
            ("10.0.0.5", [], 8096, nil, false), ("10.0.0.5", ["10.0.0.5"], 8096, .public, false),
            ("10.0.0.5", ["1.1.1.1", "10.0.0.5"], 8096, nil, false), ("127.0.0.1", ["127.0.1.1"], 8096, nil, true),
            ("::1", ["127.0.0.1"], 8096, .loopback, true), ("127.0.0.1", ["127.0.1.1"], 80, nil, false),
            ("127.0.0.1", ["10.0.0.5", "127.0.0.1"], 8096, nil, false), ("127.0.0.1", ["1.1.1.1"], 8096, nil, false),
        ] as [(String, [String], UInt16, HostClass?, Bool)])
    func aNamedHostMayHaveAnotherName(
        literal: String, named: [String], port: UInt16, first: HostClass?, isAllowed: Bool
    ) throws {
        var rights = try rights(literal, port, named: .init(host: "nas", port: 8096), first: first)
        rights.namedAddresses = try named.map { try address($0, 0) }
        #expect(AddressRules().allows(try address(literal, port), rights) == isAllowed)
    }

    /// Each is asked about nas.lan:9000 at 10.0.0.5, or at fd00::5.
    @Test(
        arguments: [
            ("nas.lan", true, true), ("nas.lan:9000", true, true), ("nas.lan:80", false, false),
            ("NAS.lan", true, true),
            ("lan", false, false), ("*.lan", true, true), (".lan", true, true), ("10.0.0.5", true, false),
            ("10.0.0.5:9000", true, false), ("10.0.0.5:1", false, false), ("10.0.0.0/8", true, false),
            ("10.0.0.4/31", true, false), ("10.0.0.6/31", false, false), ("0.0.0.0/0", true, false),
            ("10.0.0.0/8:9000", true, false), ("fd00::5", false, true), ("fd00::/8", false, true),
            ("[fd00::5]:9000", false, true), ("[fd00::/8]:9000", false, true), ("[fd00::5]:1", false, false),
            ("[fd00::5]/128:9000", false, true),
        ])
    func allowedHostsMatch(text: String, matches4: Bool, matches6: Bool) throws {
        let host = try AllowedHost(text)
        #expect(host.matches(host: "nas.lan", port: 9000, address: try address("10.0.0.5", 9000)) == matches4)
        #expect(host.matches(host: "nas.lan", port: 9000, address: try address("fd00::5", 9000)) == matches6)
        #expect(host.matches(host: "nas.lan", port: 9000, address: nil) == (matches4 && matches6))
    }

    @Test(arguments: ["bücher.example", "*.Bücher.example", "xn--bcher-kva.example:80", "bücher.example:80"])
    func internationalNamesMatchInASCII(text: String) throws {
        let host = try AllowedHost(text)
        let isDomain = text.hasPrefix("*.")
        #expect(host.matches(host: "xn--bcher-kva.example", port: 80, address: nil))
        #expect(host.matches(host: "a.xn--bcher-kva.example", port: 80, address: nil) == isDomain)
    }

    @Test(arguments: [
        "bücher!", "", ":80", "nas:", "nas:0", "nas:65536", "nas:x", "10.0.0.0/33", "fd00::/129", "10.0.0.0/-1",
        "10.0.0.0/",
        "a b",
        "http://nas", "*", "*.", "[fd00::5", "[nas]x", "nas/8", "a\nb",
    ])
    func invalidAllowedHostsAreRefused(text: String) { #expect(throws: RouteRefusal.self) { try AllowedHost(text) } }

    @Test func anAllowedNetworkCoversTranslatedAddresses() throws {
        let host = try AllowedHost("10.0.0.0/8")
        #expect(host.matches(host: "h", port: 80, address: try address("64:ff9b::a00:5")))
    }

    @Test func refusalsNameTheOption() throws {
        let rights = try rights("nas.lan", 9000)
        #expect(rights.refusal(of: .private, at: try address("10.0.0.5")).hasSuffix("add --allow-host nas.lan:9000"))
        let six = try self.rights("fd00::5", 80)
        #expect(six.refusal(of: .private, at: nil).hasSuffix("add --allow-host [fd00::5]"))
        let rebound = try self.rights("h", 80, named: .init(host: "h", port: 80), first: .public)
        #expect(rebound.refusal(of: .private, at: try address("10.0.0.5")).contains("may be an attack"))
    }

    @Test(
        arguments: [
            ("localhost", .loopback), ("a.localhost", .loopback), ("127.0.0.1", .loopback), ("2130706433", .loopback),
            ("127.1", .loopback), ("::1", .loopback), ("10.0.0.1", .private), ("fd00::1", .private), ("nas", .private),
            ("nas.local", .private), ("db.internal", .private), ("tv.home.arpa", .private),
            ("www.example.com", .public),
            ("1.1.1.1", .public), ("local.example.com", .public),
        ] as [(String, HostClass)])
    func namesAreJudgedForProxies(name: String, expected: HostClass) { #expect(HostClass(ofName: name) == expected) }
}
