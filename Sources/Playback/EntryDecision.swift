package import Assets
package import EventLoop
import HLS
package import Orders
package import Substitution

/// Decides of what the entry playlist of an asset is made: the same for a player, and for a command that asks before it starts one.
@LoopActor package struct EntryDecision {
    /// The media that an entry playlist lists.
    package enum Content {
        /// The playlist of the origin, which has answered.
        case origin
        /// The complete variants that are stored.
        case stored
        /// Parts of variants, without a complete one. If the origin may still answer, it is asked for the rest.
        case part(PlayableRanges, mayContinue: Bool)
    }

    let library: Library
    let substitutions: Substitutions

    package init(library: Library, substitutions: Substitutions) {
        self.library = library
        self.substitutions = substitutions
    }

    /// Asks the origin, unless that is not to be done, and looks at what is stored if it does not answer.
    /// - Parameters:
    ///   - isStored: true if the origin is not asked.
    ///   - choice: what the player may choose from; nil for everything.
    /// - Throws: `notStored` if nothing plays; the error of an origin that refuses; `missing` if nothing is of that choice.
    package func content(
        of asset: Asset, isStored: Bool, choosing choice: Selection?
    ) async throws(LibraryError) -> Content {
        var answer = PlaylistLoader.EntryAnswer.absent
        if !isStored {
            answer = try await library.playlists.refresh(asset)
        }
        if answer == .answered {
            return .origin
        }
        let chosen = try renditions(chosenBy: choice, of: asset)
        if asset.isPlayableOffline {
            guard await hasStored(chosen, of: asset) else {
                let reason = "nothing of that choice is completely stored of \(asset.name); \"weir get\" fetches it"
                throw LibraryError(.notStored, reason)
            }
            return .stored
        }
        var found: PlayableRanges?
        if let chosen {
            found = await substitutions.playableRanges(of: asset, among: chosen)
        } else {
            found = await substitutions.playableRanges(of: asset)
        }
        guard let ranges = found else { throw .nothingStored(of: asset) }
        guard ranges.isPlayable else { throw .nothingStored(of: asset, but: ranges.seconds) }
        return .part(ranges, mayContinue: answer == .silent)
    }

    /// True if a variant of these renditions plays without the origin, with pieces of others or without.
    private func hasStored(_ chosen: Set<Int>?, of asset: Asset) async -> Bool {
        guard let chosen else { return true }
        let listed = await substitutions.offlineRenditions(of: asset).intersection(chosen)
        return !(asset.multivariant?.completeVariants(renditions: listed).isEmpty ?? false)
    }

    /// True if any part of what a choice leaves plays without the origin.
    package func isPlayableOffline(_ asset: Asset, choosing choice: Selection?) -> Bool {
        guard let choice, let multivariant = asset.multivariant else { return asset.isPlayableOffline }
        guard let chosen = try? choice.playable(in: multivariant) else { return false }
        return !multivariant.completeVariants(renditions: asset.content.completeRenditions.intersection(chosen)).isEmpty
    }

    /// The renditions that a choice leaves; nil for all, and for a lone media playlist, which has nothing to choose.
    func renditions(chosenBy choice: Selection?, of asset: Asset) throws(LibraryError) -> Set<Int>? {
        guard let choice, let multivariant = asset.multivariant else { return nil }
        do throws(Selection.NoMatch) {
            return try choice.playable(in: multivariant)
        } catch {
            throw LibraryError(.missing, "\(asset.name) has nothing of that choice: \(error)")
        }
    }
}
