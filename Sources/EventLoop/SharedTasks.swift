/// Shares operations under way: callers with equal keys wait for one task.
@LoopActor package final class SharedTasks<Key: Hashable & Sendable, Value: Sendable> {
    private var tasks: [Key: Task<Value, Never>] = [:]

    /// Makes a register without tasks.
    package init() {}

    /// True while the operation of a key is under way.
    package func isRunning(_ key: Key) -> Bool { tasks[key] != nil }

    /// Returns the result of the operation under way with this key, or of `body`, which it begins.
    package func run(_ key: Key, _ body: @escaping @LoopActor () async -> Value) async -> Value {
        await task(key, body).value
    }

    /// As `run(_:_:)`, but returns nil once the limit has passed. The operation continues.
    package func run(
        _ key: Key, within limit: Duration, _ body: @escaping @LoopActor () async -> Value
    ) async -> Value? {
        await task(key, body).value(within: limit)
    }

    private func task(_ key: Key, _ body: @escaping @LoopActor () async -> Value) -> Task<Value, Never> {
        if let task = tasks[key] {
            return task
        }
        let task = Task { @LoopActor in
            let value = await body()
            tasks[key] = nil
            return value
        }
        tasks[key] = task
        return task
    }
}
