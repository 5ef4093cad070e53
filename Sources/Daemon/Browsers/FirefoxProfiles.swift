internal import Foundation

/// The profiles of Firefox in a user's home folder, as `profiles.ini` names them. Pure but for reading files.
struct FirefoxProfiles {
    /// The folders with a `profiles.ini`: of the distribution's package, of a snap and of a flatpak.
    static func roots(home: String, environment: [String: String]) -> [String] {
        let settings = environment["XDG_CONFIG_HOME"] ?? home + "/.config"
        return [
            home + "/.mozilla/firefox", settings + "/mozilla/firefox", home + "/snap/firefox/common/.mozilla/firefox",
            home + "/.var/app/org.mozilla.firefox/.mozilla/firefox",
            home + "/.var/app/org.mozilla.firefox/config/mozilla/firefox",
        ]
    }

    struct Profile: Equatable {
        let name: String
        /// Its folder, as an absolute path.
        let path: String
    }

    /// All profiles, that which Firefox starts with first.
    let profiles: [Profile]

    /// - Parameters:
    ///   - text: the text of `profiles.ini`.
    ///   - root: the folder of that file, without a slash at its end.
    init(_ text: String, root: String) {
        var found: [(profile: Profile, isDefault: Bool)] = []
        // An installation of Firefox has a default profile of its own, which counts more than the old mark.
        var preferred: [String] = []
        for section in Self.sections(of: text) {
            if section.name.hasPrefix("Install"), let path = section.values["Default"] {
                preferred.append(Self.absolute(path, isRelative: true, root))
            }
            guard section.name.hasPrefix("Profile"), let path = section.values["Path"] else { continue }
            let folder = Self.absolute(path, isRelative: section.values["IsRelative"] != "0", root)
            let profile = Profile(name: section.values["Name"] ?? path, path: folder)
            found.append((profile, section.values["Default"] == "1"))
        }

        let first = found.filter { preferred.contains($0.profile.path) }
        let second = found.filter(\.isDefault)
        var ordered: [Profile] = []
        for profile in (first + second + found).map(\.profile) where !ordered.contains(profile) {
            ordered.append(profile)
        }
        profiles = ordered
    }

    private static func absolute(_ path: String, isRelative: Bool, _ root: String) -> String {
        guard isRelative, !path.hasPrefix("/") else { return path }
        return root + "/" + path
    }

    private static func sections(of text: String) -> [(name: String, values: [String: String])] {
        var sections: [(name: String, values: [String: String])] = []
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("["), line.hasSuffix("]") {
                sections.append((String(line.dropFirst().dropLast()), [:]))
                continue
            }
            guard let sign = line.firstIndex(of: "="), !sections.isEmpty else { continue }
            let key = String(line[..<sign])
            sections[sections.count - 1].values[key] = String(line[line.index(after: sign)...])
        }
        return sections
    }
}
