/// Work that waits for the disk, or for another program, for long: on a thread of its own, so that nothing else waits.
public enum DiskWork {
    /// Does `body` on a thread of its own, and gives what comes of it.
    ///
    /// - Throws: what `body` throws, and `io` when the system gives no thread.
    public static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Value, StoreError>, Never>) in
            do throws(StoreError) {
                try StoreThread.start("disk work") {
                    do throws(StoreError) {
                        continuation.resume(returning: .success(try body()))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }
}
