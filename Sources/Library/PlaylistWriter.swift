import EventLoop

/// Writes ended playlists to the catalogue while players have them already: a player does not wait for a disk.
///
/// Only what is fetched after that is stored, because a power cut must not leave a piece whose name stands for another resource
/// later. Playlists of an asset that come during a write are written together by the next one.
@LoopActor final class PlaylistWriter {
    private struct Item {
        let rendition: Rendition
        let source: Rendition.Source
        /// The rendition's edition with this playlist.
        let edition: Int

        /// False if the rendition has another playlist now, or is gone.
        @LoopActor func isCurrent(in asset: Asset) -> Bool {
            rendition.edition == edition && asset.rendition(rendition.name.id) === rendition
        }
    }

    private var waiting: [ObjectIdentifier: [Item]] = [:]
    private var writes: [ObjectIdentifier: Task<Void, Never>] = [:]

    func isWriting(_ asset: Asset) -> Bool { !writes.isEmpty && writes[ObjectIdentifier(asset)] != nil }

    /// Begins to write the rendition's playlist, which has ended.
    func begin(_ rendition: Rendition, in asset: Asset, of library: Library) {
        guard let source = rendition.source else { return }
        let id = ObjectIdentifier(asset)
        waiting[id, default: []].append(Item(rendition: rendition, source: source, edition: rendition.edition))
        guard writes[id] == nil else { return }
        writes[id] = Task { @LoopActor in
            while let items = waiting.removeValue(forKey: id) { await write(items, in: asset, of: library) }
            writes[id] = nil
        }
    }

    private func write(_ items: [Item], in asset: Asset, of library: Library) async {
        let present = items.filter { $0.isCurrent(in: asset) }
        let isSaved = await library.records.save(present.map { ($0.source, $0.rendition.name.id) }, in: asset)
        for item in present where item.isCurrent(in: asset) { item.rendition.isSaved = isSaved }
    }

    /// Returns when all playlists of an asset so far are written, or cannot be.
    func end(of asset: Asset) async { await writes[ObjectIdentifier(asset)]?.value }

    /// Returns when nothing is being written.
    func finish() async { while let write = writes.values.first { await write.value } }
}
