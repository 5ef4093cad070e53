internal import FoundationEssentials
internal import Glibc

/// Checks of the systemd units, if they are installed.
extension Doctor {
    func unitFindings() -> [Finding] {
        let home = Configuration.home(environment)
        let own = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.config"
        let user = ["\(own)/systemd/user", "/etc/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user"]
        let system = ["/etc/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system"]
        let findings = [(user, "systemctl --user"), (system, "systemctl")].flatMap { folders, command in
            ["weir.service", "weir.socket"].compactMap { name in
                folders.map { "\($0)/\(name)" }.first(where: isThere).map { finding(unit: $0, name, command) }
            }
        }
        return findings.isEmpty
            ? [.ok("units", "none of systemd is installed: Weir runs as long as you let it")] : findings
    }

    private func finding(unit path: String, _ name: String, _ command: String) -> Finding {
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        let again = "correct \(path), and: \(command) daemon-reload"
        for line in text.split(separator: "\n") {
            if let value = value(of: "ExecStart", line), let program = value.split(separator: " ").first,
                access(String(program.drop { "@-:+!".contains($0) }), X_OK) != 0
            {
                return .fault("units", "\(path) starts \(program), which is not there", next: again)
            }
            if let value = value(of: "ListenStream", line) {
                do {
                    _ = try ListenAddress(String(value))
                } catch {
                    return .fault("units", "\(path): \(error.sentence)", next: again)
                }
            }
        }
        return .ok("units", path, next: "\(command) enable --now \(name)")
    }

    private func value(of key: String, _ line: Substring) -> Substring? {
        line.hasPrefix(key + "=") ? line.dropFirst(key.count + 1) : nil
    }
}
