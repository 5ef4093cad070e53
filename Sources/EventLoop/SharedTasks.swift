/// Shares operations under way: callers with equal keys wait for one task.
@LoopActor package final class SharedTasks<Key: Hashable & Sendable, Value: Sendable> {
    private var tasks: [Key: Task<Value, Never>] = [:]

    /// Makes a register without tasks.
    package init() {}

    /// True while the operation of a key is under way.
    package func isRunning(_ key: Key) -> Bool { tasks[key] != nil }

    /// Returns the result of the operation under way with this key, or of `body`, which it begins.
    package func run(_ key: Key, _ body: @escaping @LoopActor () async -> Value) async -> Value {
        if let task = tasks[key] { return await task.value }
        let task = Task { @LoopActor in await body() }
        tasks[key] = task
        defer { tasks[key] = nil }
        return await task.value
    }
}
