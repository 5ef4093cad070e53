import Testing

@testable import Daemon

/// The address that `lan = "auto"` and the name of an interface mean.
@Suite struct MachineAddressesTests {
    private static func machine(_ entries: [(String, String)], route: String? = nil) -> MachineAddresses {
        let entries = entries.map { MachineAddresses.Entry(interface: $0.0, literal: $0.1) }
        return MachineAddresses(entries: entries, defaultInterface: route)
    }

    private static let laptop = machine(
        [
            ("lo", "127.0.0.1"), ("docker0", "172.17.0.1"), ("wlan0", "192.168.1.20"), ("lo", "::1"),
            ("wlan0", "fe80::1"),
            ("wlan0", "fd00::20"), ("ppp0", "198.51.100.7"),
        ], route: "wlan0")

    @Test(
        arguments: [
            ("auto", "192.168.1.20"), ("docker0", "172.17.0.1"), ("wlan0:8300", "192.168.1.20"),
            ("ppp0", "198.51.100.7"),
            ("lo", "127.0.0.1"), ("eth0", nil), ("192.168.7.7", "192.168.7.7"),
        ] as [(String, String?)])
    func aWishBecomesAnAddress(_ text: String, _ literal: String?) throws {
        #expect(try NetworkAddress(text).literal(on: Self.laptop) == literal)
    }

    @Test(
        arguments: [
            // The interface of the default route has no private address: another one that has one.
            (machine([("eth0", "8.8.8.8"), ("wg0", "10.0.0.2")], route: "eth0"), "10.0.0.2"),
            // A public address is never chosen.
            (machine([("eth0", "8.8.8.8"), ("lo", "127.0.0.1")], route: "eth0"), nil),
            (machine([("eth0", "fe80::1"), ("eth0", "fd00::5")], route: nil), "fd00::5"),
            (machine([("eth0", "fd00::5"), ("eth0", "10.0.0.2")], route: "eth0"), "10.0.0.2"),
            (machine([("lo", "127.0.0.1")]), nil),
        ] as [(MachineAddresses, String?)])
    func autoIsAPrivateAddress(_ machine: MachineAddresses, _ literal: String?) {
        #expect(machine.best == literal)
    }

    @Test func theDefaultRouteWithTheLowestMetricCounts() {
        let head = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
        let wlan = "wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
        let cable = "eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
        let near = "wlan0\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
        #expect(MachineAddresses.defaultInterface(routes: head + wlan + near) == "wlan0")
        #expect(MachineAddresses.defaultInterface(routes: head + wlan + near + cable) == "eth0")
        #expect(MachineAddresses.defaultInterface(routes: head + near) == nil)
        #expect(MachineAddresses.defaultInterface(routes: "") == nil)
    }

    @Test(arguments: [
        "0.0.0.0", "192.168.1", "224.0.0.1", "a name", "eth0:", "averylonginterface0", "localhost", "nas.lan",
        "nas2.lan", "192.168.1.5:x",
    ])
    func otherTextsAreRefused(_ text: String) {
        #expect(throws: Refusal.self) { try NetworkAddress(text) }
    }
}
