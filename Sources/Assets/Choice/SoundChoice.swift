import HLS
import Orders

/// Chooses the sound of a picture from the groups of all its variants, and with it one of these variants.
struct SoundChoice {
    /// The sound, by the selection's order.
    let sounds: [Media]
    /// The variant that lists the first of the sounds.
    let variant: Variant
    /// The variants of the picture that meet the requirements, the chosen one first.
    let sharing: [Variant]
    /// Text behind the advantage of the picture; empty if the sound did not decide.
    let reason: String

    /// - Parameters:
    ///   - picked: the variant that all other rules choose.
    ///   - left: the variants that these rules leave.
    ///   - allowed: those that meet the requirements, in any codec and with any number of channels.
    ///   - pick: chooses one of several.
    init(
        _ selection: Selection, picked: Variant, among left: [Variant], allowed: [Variant], of groups: MediaGroups,
        prefers pick: ([Variant]) -> Variant?
    ) throws(Selection.NoMatch) {
        let pictures = Dictionary(grouping: allowed, by: \.renditionIndex)
        func sharing(_ variant: Variant) -> [Variant] {
            [variant] + (pictures[variant.renditionIndex] ?? []).filter { $0.index != variant.index }
        }
        func isSpoken(_ variant: Variant) -> Bool {
            let choice = try? MediaChoice(selection, of: .audio, for: sharing(variant), in: groups)
            guard let sound = choice?.chosen.first else { return false }
            return sound.isSpoken(by: selection.wishes)
        }

        var picture = picked
        let isAutomatic = [.default, .auto].contains(selection.audio ?? .default)
        if isAutomatic, picked.audio != nil, !isSpoken(picked) {
            // Several pictures may differ only in the groups of their sound, too.
            picture = pick(left.filter { $0.hasPicture(of: picked) && isSpoken($0) }) ?? picked
        }

        let shared = sharing(picture)
        let sounds = try MediaChoice(selection, of: .audio, for: shared, in: groups).chosen
        let group = sounds.first?.groupID
        var variant = picture
        if let group, group != picture.audio {
            variant = pick(shared.filter { $0.audio == group }) ?? picture
        }
        self.sounds = sounds
        self.variant = variant
        self.sharing = [variant] + shared.filter { $0.index != variant.index }

        let own = groups.members(of: picked, .audio)
        var hasAlternative = false
        if let sound = sounds.first {
            hasAlternative = own.contains { $0.isAlternative(to: sound) }
        }
        if variant.index == picked.index {
            reason = ""
        } else if hasAlternative {
            reason = selection.wishes.isFast == true ? "" : " of those in stereo"
        } else {
            reason = isAutomatic ? " of those in your language" : " of those with that sound"
        }
    }
}
