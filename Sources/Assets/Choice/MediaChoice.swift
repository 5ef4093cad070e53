import HLS
import Orders

/// Chooses the EXT-X-MEDIA renditions of one type for a picture.
///
/// The groups of all its variants are one offer: RFC 8216 §4.3.4.1.1 has the same members in each, in other encodings, and where
/// one group lacks a member, another may have it.
struct MediaChoice {
    let chosen: [Media]

    /// - Parameter variants: those of one picture. The groups of the first count before the others'.
    init(
        _ selection: Selection, of type: Media.Kind, for variants: [Variant], in groups: MediaGroups
    ) throws(Selection.NoMatch) {
        let offered = groups.members(of: variants, type)
        let members = offered.flatMap(\.self)
        // A variant without a group has its sound inside.
        var own: [Media] = []
        if let first = variants.first {
            own = groups.members(of: first, type)
        }
        let preferences = selection.wishes
        let wanted: [Media]
        switch selection.choice(of: type) {
        case .nothing: wanted = []
        case .all: wanted = Self.distinct(offered)
        case _ where own.isEmpty && !selection.names(type): wanted = []
        case .auto where type == .subtitles: wanted = Self.shown(own, preferences)
        case .default where type == .subtitles: wanted = [Self.automatic(own, preferences)].compactMap(\.self)
        case .default, .auto: wanted = [Self.automatic(members, preferences)].compactMap(\.self)
        case .languages(let languages): wanted = try Self.members(of: members, in: languages, type)
        }
        guard type == .audio, !wanted.isEmpty else {
            chosen = wanted
            return
        }
        let layouts = Layouts(members: members, groups: groups)
        let isEvery = selection.audio == .all
        var all: [Media] = []
        for member in wanted {
            if isEvery {
                all.append(member)
            }
            all += layouts.kept(of: member, preferences, isEvery: isEvery)
        }
        var known: Set<Int> = []
        chosen = all.filter { known.insert($0.index).inserted }
    }

    // MARK: Languages

    private static func members(
        of members: [Media], in languages: [String], _ type: Media.Kind
    ) throws(Selection.NoMatch) -> [Media] {
        var chosen: [Media] = []
        for language in languages {
            let spoken = members.filter { $0.speaks(language) }
            // Forced subtitles translate signs only, and a described sound is for the blind.
            guard let member = spoken.first(where: { !$0.isSpecial }) ?? spoken.first else {
                let kind = type == .audio ? "sound" : "subtitles"
                var there = "there " + VariantChoice.list(members.map(\.languageOrName))
                if members.isEmpty, type == .audio {
                    there = "the sound is within the video, and the playlist does not say in which language"
                }
                throw Selection.NoMatch(description: "no \(kind) in \"\(language)\"; \(there)")
            }
            chosen.append(member)
        }
        return chosen
    }

    /// The locale's language counts only for AUTOSELECT (RFC 8216 §4.3.4.1); a requested one always.
    private static func automatic(_ members: [Media], _ preferences: Selection.Preferences) -> Media? {
        for range in (preferences.languages ?? []).flatMap(LanguageRanges.of) {
            if let member = defaultMember(members.filter { $0.speaks(range) }) {
                return member
            }
        }
        for range in preferences.locale.map(LanguageRanges.of) ?? [] {
            if let member = defaultMember(members.filter { $0.isAutoselect && $0.speaks(range) }) {
                return member
            }
        }
        return defaultMember(members)
    }

    /// The subtitles that players show unasked.
    private static func shown(_ members: [Media], _ preferences: Selection.Preferences) -> [Media] {
        let forced = preferences.spoken.lazy.compactMap { range in members.first { $0.isForced && $0.speaks(range) } }
            .first
        guard let usual = members.first(where: \.isDefault) else { return [forced].compactMap(\.self) }
        guard let forced, forced.index != usual.index else { return [usual] }
        return [usual, forced]
    }

    /// Forced subtitles and renditions that describe the video come after the ordinary ones. The first group that has such a
    /// one decides.
    private static func defaultMember(_ offered: [Media]) -> Media? {
        let group = (offered.first { !$0.isSpecial } ?? offered.first)?.groupID
        let members = offered.filter { $0.groupID == group }
        if let usual = members.first(where: \.isDefault) {
            return usual
        }
        if let ordinary = members.first(where: { $0.isAutoselect && !$0.isSpecial }) {
            return ordinary
        }
        return members.first(where: \.isAutoselect) ?? members.first
    }

    // MARK: All

    /// The members of the first group, and of each other one what no group before it has: another sound, or another number of
    /// channels. The same in another codec or at another bit rate is no other sound.
    private static func distinct(_ offered: [[Media]]) -> [Media] {
        var known: Set<Identity> = []
        var distinct: [Media] = []
        for group in offered {
            distinct += group.filter { !known.contains(Identity($0)) }
            known.formUnion(group.map(Identity.init))
        }
        return distinct
    }

    /// The attributes that one member has in each group, and its layout.
    private struct Identity: Hashable {
        let name: String
        let language: String?
        let characteristics: Set<Substring>
        let isForced: Bool
        let channels: Int

        init(_ media: Media) {
            name = media.name
            language = media.language?.lowercased()
            characteristics = media.traits
            isForced = media.isForced
            channels = media.channelCount
        }
    }

    // MARK: Channels

    /// The encodings of one sound among the members of the groups.
    private struct Layouts {
        let members: [Media]
        let groups: MediaGroups

        /// The layout with the most channels and a stereo one; for a fast download the one with the fewest channels; otherwise
        /// stereo, if the member has more.
        func kept(of member: Media, _ preferences: Selection.Preferences, isEvery: Bool) -> [Media] {
            // The corresponding member of another group has its name; within a group names differ.
            let same = members.filter { $0.isAlternative(to: member) }
            let layouts = same.filter { $0.name == member.name } + same.filter { $0.name != member.name }
            if preferences.prefersMultichannel == true {
                let widest = layouts.max { $0.channelCount < $1.channelCount } ?? member
                guard widest.channelCount > 2 else { return [member] }
                return [widest] + [stereo(layouts)].compactMap(\.self)
            }
            if isEvery {
                return []
            }
            if preferences.isFast == true {
                return [layouts.filter { $0.channelCount > 0 }.min { $0.channelCount < $1.channelCount } ?? member]
            }
            guard groups.mayBeMultichannel(member), let stereo = stereo(layouts) else { return [member] }
            return [stereo]
        }

        /// The first stereo or mono layout. One without CHANNELS counts if there is no other: an old packager leaves it out.
        private func stereo(_ layouts: [Media]) -> Media? {
            layouts.first { (1...2).contains($0.channelCount) }
                ?? layouts.first { $0.channelCount == 0 && !groups.mayBeMultichannel($0) }
        }
    }
}

extension Media {
    /// A name for messages.
    fileprivate var languageOrName: String { language ?? name }
}

extension Selection {
    /// The rule for the renditions of a type, with what a request leaves out.
    fileprivate func choice(of type: Media.Kind) -> Choice {
        if type == .audio {
            return audio ?? .default
        }
        return subtitles ?? .auto
    }

    /// True if it names languages of a type.
    fileprivate func names(_ type: Media.Kind) -> Bool {
        if case .languages = choice(of: type) {
            return true
        }
        return false
    }
}

enum LanguageRanges {
    /// Returns the tag and its shortened forms (RFC 4647 §3.4): `zh-hant-tw`, `zh-hant`, `zh`.
    static func of(_ tag: String) -> [String] {
        var subtags = tag.split(separator: "-")
        var ranges: [String] = []
        while !subtags.isEmpty {
            ranges.append(subtags.joined(separator: "-"))
            subtags.removeLast()
            // A single-letter subtag has no meaning without the one after it.
            if subtags.last?.utf8.count == 1 {
                subtags.removeLast()
            }
        }
        return ranges
    }
}

extension Selection.Preferences {
    /// The user's languages, the most preferred first, each followed by its shortened forms.
    fileprivate var spoken: [String] {
        ((languages ?? []) + [locale].compactMap(\.self)).flatMap(LanguageRanges.of)
    }

    /// True if nothing is known of the user's languages.
    var isWithoutLanguage: Bool { (languages ?? []).isEmpty && locale == nil }
}

extension Media {
    /// True if it is in one of the user's languages, or nothing is known of these.
    func isSpoken(by preferences: Selection.Preferences) -> Bool {
        preferences.isWithoutLanguage || preferences.spoken.contains(where: speaks)
    }

    /// True if the rendition is in a language, by RFC 4647's basic filtering, or has this name.
    func speaks(_ wanted: String) -> Bool {
        let tag = (language ?? "").lowercased()
        let wanted = wanted.lowercased()
        return tag == wanted || tag.hasPrefix(wanted + "-") || name.lowercased() == wanted
    }

    fileprivate var isSpecial: Bool { isForced || describesVideo }

    /// The tags of CHARACTERISTICS.
    fileprivate var traits: Set<Substring> { Set((characteristics ?? "").split(separator: ",")) }

    private var describesVideo: Bool { traits.contains { $0.hasSuffix("accessibility.describes-video") } }

    /// True for equal audio apart from channels and codec. Names differ within a group (RFC 8216 §4.3.4.1.1).
    func isAlternative(to other: Media) -> Bool {
        language?.lowercased() == other.language?.lowercased() && isAutoselect == other.isAutoselect
            && (characteristics == other.characteristics || traits == other.traits)
            && (language != nil || name == other.name)
    }
}
