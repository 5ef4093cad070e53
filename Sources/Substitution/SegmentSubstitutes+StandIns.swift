package import Assets
package import EventLoop
package import Fetching
package import HLS

/// Segments of other renditions that are fetched in place of those that cannot be fetched.
extension SegmentSubstitutes {
    /// Pieces to fetch, so that stored media shows if another rendition's segments can stand in.
    package struct Trial {
        /// A segment of the rendition itself, and one of the other's, with their initialization sections.
        package let pieces: [(folder: PieceFolder, resource: Resource)]
    }

    /// The others, in the order in which they are asked: lower ones first, since they arrive sooner.
    private var fetchable: [Alignment] { alignments.filter { !$0.isBetter } + alignments.filter(\.isBetter) }

    /// The segments of other renditions that may be fetched in place of one.
    package func standIns(for name: PieceName) -> [Quality] {
        guard let index = index(of: name) else { return [] }
        return fetchable.compactMap { alignment in
            guard let segment = alignment.likelyCounterpart(of: index) else { return nil }
            return alignment.other.quality(of: segment, rate: alignment.rate)
        }
    }

    /// Marks the segments, by index, in place of which another rendition's can be fetched, as far as stored pieces show.
    /// - Parameters:
    ///   - holes: true for each segment that is sought; those that are found become false.
    ///   - isReachable: true for a segment that is stored or can be fetched.
    package func coverFetchable(
        _ holes: inout [Bool], isReachable: (Rendition, Segment) -> Bool, _ slice: inout LoopSlice
    ) async {
        for alignment in fetchable where alignment.isProven {
            for index in holes.indices where holes[index] {
                if let segment = alignment.likelyCounterpart(of: index), isReachable(alignment.other, segment) {
                    holes[index] = false
                }
                await slice.giveWay()
            }
        }
    }

    /// The pieces to fetch, so that a rendition of which nothing can be compared yet may stand in; nil if none may.
    package func trial(for holes: [Bool], isReachable: (Rendition, Segment) -> Bool) -> Trial? {
        for alignment in fetchable where !alignment.isProven && alignment.refusal == nil {
            for index in holes.indices.lazy.filter({ holes[$0] }).prefix(Self.mostTried) {
                guard let segment = alignment.expectedCounterpart(of: index), isReachable(alignment.other, segment)
                else { continue }
                guard let own = neighbour(of: index, holes) else { break }
                return Trial(pieces: self.own.pieces(of: own) + alignment.other.pieces(of: segment))
            }
        }
        return nil
    }

    private static let mostTried = 1_000

    /// The nearest segment that is no hole, without a discontinuity in between.
    private func neighbour(of index: Int, _ holes: [Bool]) -> Segment? {
        guard let playlist = own.source?.playlist, playlist.segments.count == holes.count else { return nil }
        let discontinuities = playlist.discontinuities(upTo: index)
        func isUsable(_ index: Int) -> Bool {
            !holes[index] && !playlist.segments[index].isGap && playlist.discontinuities(upTo: index) == discontinuities
        }
        let before = holes[..<index].indices.suffix(Self.mostTried).last(where: isUsable)
        let after = holes[index...].indices.prefix(Self.mostTried).first(where: isUsable)
        guard let nearest = before ?? after else { return nil }
        return playlist.segments[nearest]
    }
}

extension Rendition {
    /// The segment and its initialization section, as far as they are not stored.
    fileprivate func pieces(of segment: Segment) -> [(folder: PieceFolder, resource: Resource)] {
        [segment.map.flatMap { resource(of: $0) }, resource(of: segment)].compactMap(\.self)
            .filter { !folder.contains($0.name.description) }.map { (folder, $0) }
    }
}

extension Substitutions {
    /// Loads the playlists of the next lower and the next better rendition that may stand in for one, unless they are known.
    package func loadNeighbours(of rendition: Rendition, in asset: Asset, _ library: Library) async {
        await prepareTraits(of: asset)
        guard let table = traits(of: asset), let own = table[rendition.index] else { return }
        let others = asset.renditions.compactMap { other -> (rendition: Rendition, bandwidth: BitRate)? in
            guard other !== rendition, let traits = table[other.index], own.mismatch(to: traits) == nil else {
                return nil
            }
            return (other, traits.bandwidth)
        }
        let lower = others.filter { $0.bandwidth <= own.bandwidth }.max { $0.bandwidth < $1.bandwidth }
        let better = others.filter { $0.bandwidth > own.bandwidth }.min { $0.bandwidth < $1.bandwidth }
        let unknown = [lower, better].compactMap { $0?.rendition }.filter { $0.source == nil }
        let tasks = unknown.map { other in
            Task { @LoopActor in
                // A rendition whose playlist cannot be loaded does not stand in.
                do throws(LibraryError) { _ = try await library.playlists.source(of: other, in: asset) } catch {}
            }
        }
        for task in tasks {
            await task.value
        }
    }
}
