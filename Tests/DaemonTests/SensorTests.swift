import Foundation
import TestSupport
import Testing

@testable import Daemon
@testable import Downloads

/// The clock, the power, the network and the use of a machine, as its files and services have them.
@Suite struct SensorTests {
    // MARK: The clock

    /// Berlin's night of 29 March 2026 has no 02:30, and that of 25 October 2026 has two.
    @Test(arguments: [
        ("2026-03-29T00:59:59Z", "01:59:59"), ("2026-03-29T01:00:00Z", "03:00:00"),
        ("2026-10-25T00:30:00Z", "02:30:00"), ("2026-10-25T01:30:00Z", "02:30:00"),
        ("2026-10-25T02:00:00Z", "03:00:00"), ("2026-07-01T22:00:00Z", "00:00:00"),
        ("1969-12-31T22:00:00Z", "23:00:00"),
    ])
    func theTimeOfTheDayFollowsSummerTime(_ instant: String, _ local: String) throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let date = try Date(instant, strategy: .iso8601)
        let second = LocalTime.second(at: Int64(date.timeIntervalSince1970)) { time in
            zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time)))
        }
        #expect(String(format: "%02d:%02d:%02d", second / 3600, second / 60 % 60, second % 60) == local)
    }

    // MARK: The power supply

    private func power(_ supplies: [String: [String: String]]) throws -> Conditions.Reading<Conditions.Power> {
        let folder = try TemporaryFolder()
        for (name, values) in supplies {
            for (key, value) in values {
                try folder.write(Data("\(value)\n".utf8), to: "\(name)/\(key)")
            }
        }
        return PowerSupplies(folder: folder.path).read()
    }

    private static func battery(_ status: String, _ percent: String, _ more: [String: String] = [:]) -> [String: String]
    {
        ["type": "Battery", "status": status, "capacity": percent].merging(more) { $1 }
    }

    @Test func aMachineWithoutABatteryHasNoPowerToSpeakOf() throws {
        #expect(try power([:]) == .absent)
        #expect(PowerSupplies(folder: "/nowhere").read() == .absent)
        #expect(try power(["AC": ["type": "Mains", "online": "1"]]) == .absent)
        let mouse = Self.battery("Discharging", "5", ["scope": "Device"])
        #expect(try power(["hidpp_battery_0": mouse]) == .absent)
    }

    @Test func aBatteryIsInUseWhileItDischargesOrNothingElseIsThere() throws {
        let plugged = ["type": "Mains", "online": "1"]
        let unplugged = ["type": "Mains", "online": "0"]
        #expect(
            try power(["AC": unplugged, "BAT0": Self.battery("Discharging", "42")])
                == .value(.init(isOnBattery: true, percent: 42)))
        #expect(
            try power(["AC": plugged, "BAT0": Self.battery("Charging", "42")])
                == .value(.init(isOnBattery: false, percent: 42)))
        #expect(
            try power(["BAT0": Self.battery("Full", "100")]) == .value(.init(isOnBattery: false, percent: 100)))
        #expect(
            try power(["AC": unplugged, "BAT0": Self.battery("Unknown", "50")])
                == .value(.init(isOnBattery: true, percent: 50)))
        // A charger that is too weak.
        #expect(
            try power(["AC": plugged, "BAT0": Self.battery("Discharging", "9")])
                == .value(.init(isOnBattery: true, percent: 9)))
    }

    @Test func twoBatteriesCountByTheirCharge() throws {
        let small = Self.battery("Discharging", "90", ["energy_now": "9000000", "energy_full": "10000000"])
        let large = Self.battery("Discharging", "10", ["energy_now": "9000000", "energy_full": "90000000"])
        #expect(
            try power(["BAT0": small, "BAT1": large]) == .value(.init(isOnBattery: true, percent: 18)))
    }

    // MARK: The system bus

    private struct Bus {
        let folder: TemporaryFolder
        let process: ChildProcess
        var environment: [String: String] {
            ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder.path("bus")),guid=0123456789abcdef0123456789abcdef"]
        }

        func set(_ values: String) throws { try folder.write(Data(values.utf8), to: "values.json") }
    }

    private func bus(_ values: String) async throws -> Bus {
        let folder = try TemporaryFolder()
        try folder.write(Data(values.utf8), to: "values.json")
        let process = try ChildProcess(
            "python3",
            [Repository.path("tools/weirtools/scenes/system_bus.py"), folder.path("bus"), folder.path("values.json")])
        _ = try await process.line(startingWith: "listening on ")
        return Bus(folder: folder, process: process)
    }

    @Test func theBusKnowsMeteringAndUse() async throws {
        let bus = try await bus("{}")
        let sensors = MachineSensors(environment: bus.environment)
        let none = sensors.read([.metering, .idleness])
        #expect(none.isMetered == .absent && none.isIdle == .absent && none.power == .unread)
        for (number, isMetered) in [(0, false), (1, true), (2, false), (3, true), (4, false)] {
            try bus.set("{\"Metered\": \(number), \"IdleHint\": \(isMetered)}")
            let conditions = sensors.read([.metering, .idleness])
            #expect(conditions.isMetered == .value(isMetered) && conditions.isIdle == .value(isMetered), "\(number)")
        }
    }

    @Test func aMachineWithoutABusHasNoSuchFacts() {
        let sensors = MachineSensors(environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere/bus"])
        let conditions = sensors.read([.metering, .idleness])
        #expect(conditions.isMetered == .absent && conditions.isIdle == .absent)
    }

    /// The daemon of the distribution authenticates, and has no such service.
    @Test func aRealBusAnswersToo() async throws {
        let folder = try TemporaryFolder()
        let address = "unix:path=\(folder.path("bus"))"
        let process = try ChildProcess(
            "dbus-daemon", ["--session", "--nofork", "--print-address", "--address=\(address)"])
        _ = try await process.line(startingWith: "unix:")
        let bus = SystemBus(environment: ["DBUS_SYSTEM_BUS_ADDRESS": address])
        #expect(bus.isMetered() == .absent && bus.isIdle() == .absent)
    }

    @Test func theBusIsTheFirstOfTheAddressesThatAnswers() async throws {
        let bus = try await bus("{\"Metered\": 1}")
        let path = bus.folder.path("bus")
        let addresses = "unix:path=/nowhere/bus;unix:path=\(path),guid=0123456789abcdef0123456789abcdef"
        #expect(SystemBus(environment: ["DBUS_SYSTEM_BUS_ADDRESS": addresses]).isMetered() == .value(true))
    }

    /// A bus that hangs: its socket takes the connection, and nobody answers.
    @Test func aSilentBusHasNoFacts() async throws {
        let folder = try TemporaryFolder()
        let script = """
            import signal, socket, sys
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(sys.argv[1])
            listener.listen()
            print("listening", flush=True)
            signal.pause()
            """
        let process = try ChildProcess("python3", ["-c", script, folder.path("bus")])
        _ = try await process.line(startingWith: "listening")
        let environment = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder.path("bus"))"]
        let bus = SystemBus(environment: environment, limit: .milliseconds(50))
        #expect(bus.isMetered() == .absent)
    }

    // MARK: Sleep

    @Test func theMachineIsKeptAwakeUntilTheLockIsGone() async throws {
        let bus = try await bus("{\"Inhibit\": true}")
        var lock: SleepLock? = try SystemBus(environment: bus.environment).keepAwake("A test").get()
        #expect(lock != nil)
        let words = try await bus.process.line(startingWith: "inhibited ")
        #expect(words == "sleep:idle | Weir | A test | block")
        lock = nil
        _ = try await bus.process.line(startingWith: "released")
    }

    @Test func aBusWithoutLogindKeepsNothingAwake() async throws {
        let bus = try await bus("{}")
        let refusal = SystemBus(environment: bus.environment).keepAwake("A test")
        #expect(throws: BusFailure.refused(EHOSTUNREACH)) { try refusal.get() }
        let none = SystemBus(environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere/bus"]).keepAwake("A test")
        #expect(throws: BusFailure.noBus) { try none.get() }
    }

    // MARK: Waking

    /// A user's service manager, on a bus of its own, whose units have a state.
    private func manager(_ state: String) async throws -> (UserManager, ChildProcess, TemporaryFolder) {
        let folder = try TemporaryFolder()
        // Debian's own, which has dbusmock.
        let process = try ChildProcess(
            "/usr/bin/python3",
            [Repository.path("tools/weirtools/scenes/user_manager.py"), folder.path("bus"), state])
        _ = try await process.line(startingWith: "listening on ")
        let manager = UserManager(environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder.path("bus"))"])
        return (manager, process, folder)
    }

    @Test func aTimerOfTheUsersManagerWakesTheMachine() async throws {
        let (manager, process, folder) = try await manager("active")
        defer { withExtendedLifetime(folder) {} }
        try manager.setTimer(wakingAt: 1_900_000_000).get()
        let order = try await process.line(startingWith: "StartTransientUnit ")
        #expect(order.hasPrefix("\"weir-wake-1900000000.timer\" \"replace\" "), "\(order)")
        #expect(order.contains("'OnCalendar'), dbus.String('@1900000000')"), "\(order)")
        #expect(order.contains("'WakeSystem'), dbus.Boolean(True"), "\(order)")
        // An earlier process has set this timer: the manager refuses a second one of the name.
        try manager.setTimer(wakingAt: 1_900_000_000).get()
        manager.removeTimer(wakingAt: 1_900_000_000)
        #expect(try await process.line(startingWith: "StopUnit ") == "\"weir-wake-1900000000.timer\" \"replace\"")
    }

    @Test func aManagerThatMayNotWakeTheMachineSaysSo() async throws {
        let (manager, process, folder) = try await manager("failed")
        defer { withExtendedLifetime(folder) {} }
        #expect(throws: BusFailure.cannotWake) { try manager.setTimer(wakingAt: 1_900_000_000).get() }
        #expect(try await process.line(startingWith: "ResetFailedUnit ") == "\"weir-wake-1900000000.timer\"")
        let none = UserManager(environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere/bus"])
        #expect(throws: BusFailure.noBus) { try none.setTimer(wakingAt: 1_900_000_000).get() }
    }

    /// A timer for a time that is over would never elapse.
    @Test(
        arguments: [(nil, nil), (1_000, nil), (1_059, nil), (1_060, nil), (1_061, 1_001), (5_000, 4_940)]
            as [(Int64?, Int64?)])
    func theMachineIsWokenAMinuteBefore(begin: Int64?, wake: Int64?) {
        #expect(WakeTimer.time(before: begin, at: 1_000) == wake)
    }

    /// Names as sd_bus_path_encode(3) has them.
    @Test(arguments: [("weir-wake-17.timer", "weir_2dwake_2d17_2etimer"), ("ä_1", "_c3_a4_5f1")])
    func theNameOfAUnitIsAPartOfAPath(name: String, label: String) { #expect(UserManager.label(name) == label) }
}
