/// Runs pure work on content of origins outside the loop: parsing and writing large playlists.
///
/// Work for one owner, an asset, runs one piece after the other, so that no asset occupies more than one processor. Small work
/// runs at once on the loop, because a change of threads costs more.
@LoopActor package final class PureWork {
    /// Work of at most this size is done on the loop: about a millisecond. Sizes are in bytes of text or in items of 64 bytes.
    package static let small = 64 << 10
    private var last: [ObjectIdentifier: (id: Int, task: Task<Void, Never>)] = [:]
    private var count = 0

    /// The work of all rooms.
    package static let shared = PureWork()
    init() {}

    /// The number of owners with work outside the loop.
    package var ownerCount: Int { last.count }

    /// Returns the result of `body`.
    /// - Parameters:
    ///   - size: the size of the content, see `small`.
    ///   - owner: an object that stands for the asset.
    package func run<Value: Sendable>(
        size: Int, for owner: AnyObject, _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        guard size > Self.small else { return body() }
        let key = ObjectIdentifier(owner)
        let previous = last[key]?.task
        let task = Task.detached(priority: .utility) {
            await previous?.value
            return body()
        }
        count += 1
        let id = count
        last[key] = (id, Task { @LoopActor in _ = await task.value })
        let value = await task.value
        // Until here the owner lives, so that no other object has its identity.
        withExtendedLifetime(owner) {
            if last[key]?.id == id { last[key] = nil }
        }
        return value
    }
}
