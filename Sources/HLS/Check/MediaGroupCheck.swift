/// Checks the groups of EXT-X-MEDIA and the references to them (RFC 8216 §4.3.4.1.1, §4.3.4.2.1).
struct MediaGroupCheck {
    private let playlist: MultivariantPlaylist
    private let groups: [Media.Group: [Media]]

    init(playlist: MultivariantPlaylist) {
        self.playlist = playlist
        groups = Dictionary(grouping: playlist.media, by: \.group)
    }

    func run(_ findings: inout Findings) {
        for media in playlist.media {
            check(media, &findings)
        }
        checkReferences(&findings)
        for members in groups.values.sorted(by: { $0[0].line < $1[0].line }) {
            check(members, &findings)
        }
        checkCaptions(&findings)
        var pathways: [Media.Group: Set<String>] = [:]
        for variant in playlist.variants {
            for group in variant.groups {
                pathways[group, default: []].insert(variant.pathwayID)
            }
        }
        for type in Media.Kind.allCases where type != .closedCaptions {
            checkEquality(of: type, pathways: pathways, &findings)
        }
    }

    private func check(_ media: Media, _ findings: inout Findings) {
        func report(_ message: String) { findings.add(.groupMember, line: media.line, message) }
        switch media.type {
        case .closedCaptions:
            if media.attributes["URI"] != nil {
                report("closed captions with a URI")
            }
            if let id = media.instreamID {
                if !Self.isInstreamID(id) {
                    report("INSTREAM-ID is neither CC1 to CC4 nor SERVICE1 to SERVICE63")
                }
            } else {
                report("closed captions without INSTREAM-ID")
            }
        case .subtitles:
            if media.uri == nil {
                report("subtitles without a URI")
            }
        case .audio, .video: break
        }
        if media.type != .subtitles, media.isForced {
            report("FORCED is allowed only for subtitles")
        }
        if media.isDefault, media.attributes["AUTOSELECT"] == "NO" {
            report("DEFAULT=YES with AUTOSELECT=NO")
        }
    }

    private static func isInstreamID(_ id: String) -> Bool {
        let service = "SERVICE"
        guard id.hasPrefix(service) else { return ["CC1", "CC2", "CC3", "CC4"].contains(id) }
        guard let number = Int(id.dropFirst(service.count)) else { return false }
        return (1...63).contains(number)
    }

    private func checkReferences(_ findings: inout Findings) {
        var used: Set<Media.Group> = []
        let types = Set(groups.keys.map(\.type))
        var references = playlist.variants.map { ($0.groups, $0.line) }
        references += playlist.iFrameVariants.map { ($0.groups, $0.line) }
        for (groups, line) in references {
            used.formUnion(groups)
            // Players use the variant's own media if no group of the type exists at all. hls.js ends with an error if other
            // groups of sound exist; of other types it uses none.
            for group in groups where self.groups[group] == nil && types.contains(group.type) {
                let severity: PlaylistDiagnostic.Severity? = group.type == .audio ? nil : .warning
                findings.add(
                    .missingGroup, severity: severity, line: line,
                    "no EXT-X-MEDIA of \(group.type.rawValue) has GROUP-ID \(quoted(group.id))")
            }
        }
        // Without variants, a finding of its own says so.
        for media in playlist.media where !playlist.variants.isEmpty && used.insert(media.group).inserted {
            findings.add(.unusedGroup, line: media.line, "no variant refers to the group \(quoted(media.groupID))")
        }
    }

    private func check(_ members: [Media], _ findings: inout Findings) {
        var names: Set<String> = []
        for media in members where !names.insert(media.name).inserted {
            findings.add(.groupMember, line: media.line, "another rendition of the group has the same NAME")
        }
        for media in members.filter(\.isDefault).dropFirst() {
            findings.add(.groupMember, line: media.line, "a second DEFAULT=YES in the group")
        }
    }

    private func checkCaptions(_ findings: inout Findings) {
        let none = playlist.variants.filter { variant in
            let attribute = variant.attributes.find("CLOSED-CAPTIONS")
            guard let attribute else { return false }
            return !attribute.isQuoted
        }
        guard let first = none.first, none.count < playlist.variants.count else { return }
        findings.add(
            .groupMember, line: first.line, clause: Tag.streamInf.clause,
            "CLOSED-CAPTIONS=NONE in some variants, but not in all")
    }

    /// Groups of one type must have members with the same names, because players switch between the groups. Those of different
    /// pathways need not: rfc8216bis §9.12 has an example.
    private func checkEquality(
        of type: Media.Kind, pathways: [Media.Group: Set<String>], _ findings: inout Findings
    ) {
        let same = groups.filter { $0.key.type == type }.values.sorted { $0[0].line < $1[0].line }
        var firsts: [String: Int] = [:]
        for (index, members) in same.enumerated() {
            let own = pathways[members[0].group] ?? ["."]
            if let first = own.compactMap({ firsts[$0] }).min() {
                compare(members, with: same[first], &findings)
            }
            for pathway in own {
                firsts[pathway] = firsts[pathway] ?? index
            }
        }
    }

    private func compare(_ members: [Media], with first: [Media], _ findings: inout Findings) {
        if Set(members.map(\.name)) != Set(first.map(\.name)) {
            findings.add(
                .unequalGroups, line: members[0].line,
                "the renditions' names differ from those of the group \(quoted(first[0].groupID))")
        }
        for media in members {
            guard let equal = first.first(where: { $0.name == media.name }), let name = Self.difference(media, equal)
            else { continue }
            findings.add(
                .unequalGroups, line: media.line,
                "\(name) differs from that of the same NAME in the group \(quoted(first[0].groupID))")
        }
    }

    /// Returns the name of an attribute by which two renditions of one NAME differ, other than URI and those of an encoding.
    private static func difference(_ first: Media, _ second: Media) -> String? {
        if first.isDefault != second.isDefault {
            return "DEFAULT"
        }
        if first.isAutoselect != second.isAutoselect {
            return "AUTOSELECT"
        }
        if first.isForced != second.isForced {
            return "FORCED"
        }
        return ["LANGUAGE", "ASSOC-LANGUAGE"].first { first.attributes[$0] != second.attributes[$0] }
    }

    private func quoted(_ id: String) -> String { "\"\(PlaylistError.excerpt(of: id))\"" }
}
