import ArgumentParser
import Daemon
import Foundation
import WeirAPI

struct PageCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "page", abstract: "Print the link to the page, for a browser.",
        discussion: """
            After opening the link, http://localhost:8216/ lists, plays and downloads in this browser, until --revoke ends that. \
            The link contains a key: a program of yours with the link has your rights.

            A phone or another device of the network gets a link of its own with --phone, if the daemon runs with --lan. It may look, \
            play, and start, pause and cancel downloads; nothing else. The network is not encrypted: whoever listens to it learns \
            the link.
            """)

    @Flag(
        help: """
            Also open the link in the desktop's browser (xdg-open), through a file in the state directory: other users of \
            this machine can see the arguments of programs.
            """)
    var open = false
    @Flag(help: "Print a bookmark that asks the page to add what the browser shows, rather than the link.")
    var bookmarklet = false
    @Option(
        help: ArgumentHelp(
            "Print a link for a phone on the network, which it keeps until --revoke NAME, and a QR code of it (needs qrencode).",
            valueName: "name"))
    var phone: String?
    @Flag(help: "List the phones: their names, when their links were made, and when they were last seen.")
    var phones = false
    @Flag(help: "End the link, and the access of all browsers that opened it; with a name, the access of that phone.")
    var revoke = false
    @Argument(help: ArgumentHelp("With --revoke: the name of a phone.", valueName: "name"))
    var name: String?
    @Flag(help: "With --revoke: the link and the access of all phones.")
    var all = false
    @Flag(help: "With --phones: write one JSON object per line.")
    var json = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard [open, bookmarklet, revoke, phone != nil, phones].count(where: { $0 }) < 2 else {
            throw ValidationError("Give only one of --open, --bookmarklet, --phone, --phones and --revoke.")
        }
        guard name == nil || revoke && !all else {
            throw ValidationError("A name requires --revoke, without --all; for a new link: --phone NAME.")
        }
        guard !all || revoke else { throw ValidationError("--all requires --revoke.") }
        guard !json || phones else { throw ValidationError("--json requires --phones.") }
        if let fault = phone.flatMap({ PhoneRecord.fault(ofName: $0) }) {
            throw ValidationError("\(fault)")
        }
    }

    func execute() async throws {
        if revoke {
            return try await PageRevocation(daemon: try common.daemon(starts: false)).run(name, all: all)
        }
        let daemon = try common.daemon()
        if phones {
            return try await list(in: daemon)
        }
        if let phone {
            return try await Self.admit(phone, in: daemon)
        }
        guard !bookmarklet else {
            try await daemon.ensure()
            return Output.record(
                "javascript:void(window.open('\(daemon.urls.base)/add#url='+encodeURIComponent(location.href)))")
        }

        let path = try await daemon.client.call(Endpoints.page).path
        Output.record(daemon.urls.base + path)
        guard open else { return }
        let opener = try Self.opener(
            in: ProcessInfo.processInfo.environment, instead: "open the link in a browser on this machine")
        let file = try daemon.client.state.writePageFile(to: daemon.urls.base, path)
        throw CommandFailure(opener.start([file]), exitCode: 1, code: "no-browser")
    }

    private static func admit(_ phone: String, in daemon: DaemonHandle) async throws {
        let link = try await daemon.client.call(Endpoints.addPhone, body: API.PhoneRequest(name: phone))
        Output.record(link.url)
        if let picture = QRCode.lines(of: link.url) {
            return Output.verbatim(picture + "\n")
        }
        Output.error("weir: to see a QR code of the link here, install qrencode\n")
    }

    private func list(in daemon: DaemonHandle) async throws {
        let phones = try await daemon.client.call(Endpoints.phones).phones
        guard !json else { return try phones.forEach { try Output.json($0) } }
        guard !phones.isEmpty else { return Output.line("no phone has access; a link for one: weir page --phone NAME") }
        PhoneTable.lines(phones).forEach { Output.line($0) }
    }

    /// Finds the program that opens files on the desktop.
    ///
    /// - Parameter instead: the next step of a user without one.
    static func opener(in environment: [String: String], instead: String) throws(CommandFailure) -> Program {
        let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
        guard hasDisplay else {
            throw CommandFailure(
                "the page cannot be opened: neither DISPLAY nor WAYLAND_DISPLAY is set",
                next: instead, exitCode: 69, code: "no-display")
        }

        if let opener = Program.find("xdg-open", environment: environment) {
            return opener
        }
        throw CommandFailure(
            "xdg-open, which opens the desktop's browser, is not installed",
            next: "\(instead); or install xdg-utils", exitCode: 69, code: "no-browser")
    }
}

/// Formats the phones that have access.
enum PhoneTable {
    static func lines(_ phones: [API.Phone], zone: TimeZone = .current) -> [String] {
        var rows = [["PHONE", "MADE", "LAST SEEN"]]
        for phone in phones {
            var seen = "never"
            if let date = phone.seen {
                seen = TimeText.words(date, zone: zone)
            }
            rows.append([phone.name, TimeText.words(phone.created, zone: zone), seen])
        }
        return TextTable(rows: rows).lines
    }
}

/// Ends the access of browsers and phones: by a running daemon, or in the files of the next one.
struct PageRevocation {
    let daemon: DaemonHandle

    /// - Parameter name: the phone; nil for the link of this machine, or with `all` for it and all phones.
    func run(_ name: String?, all: Bool) async throws {
        let state = daemon.client.state
        if name == nil {
            let isDone = try state.withoutDaemon { () throws(APIError) in try state.removePageKey() }
            if !isDone {
                _ = try await daemon.client.call(Endpoints.renewPage)
            }
            Output.line("the link to the page has ended; a new one: weir page")
        }

        if let name {
            return Output.line("\(try await end(name)[0].name) has no access any more")
        }
        guard all else { return }
        let ended = try await end(nil)
        if ended.isEmpty {
            Output.line("no phone had access")
        } else {
            Output.line("no phone has access any more: \(Format.count(ended.count, "phone")) had")
        }
    }

    /// Ends the access of one phone, or of all, and returns them.
    private func end(_ name: String?) async throws(APIError) -> [API.Phone] {
        let state = daemon.client.state
        var ended: [API.Phone] = []
        let isDone = try state.withoutDaemon { () throws(APIError) in
            let phones: [PhoneRecord]
            if name == nil {
                // A damaged file is replaced, since all its phones are to go.
                phones = (try? state.phones()) ?? []
            } else {
                phones = try state.phones()
            }
            ended = phones.filter { name == nil || $0.name == name }.map(\.phone)
            guard name == nil || !ended.isEmpty else { return }
            try state.writePhones(phones.filter { phone in !ended.contains { $0.name == phone.name } })
        }

        // Without a state directory, no phone was ever admitted.
        if let name, isDone, ended.isEmpty {
            throw APIError(.noSuchPhone, "there is no phone named \(name)")
        }
        if isDone {
            return ended
        }
        if let name {
            return [try await daemon.client.call(Endpoints.revokePhone, name)]
        }
        return try await daemon.client.call(Endpoints.revokePhones).phones
    }
}
