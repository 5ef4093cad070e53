public import EventLoop

/// Whoever wants the bytes of a transfer.
///
/// Called on the loop, never from within `OriginClient.start`, and never after `Transfer.cancel()`, which may be called
/// from within each of these. Held by the transfer until its end.
@LoopActor public protocol TransferReceiver: AnyObject {
    /// The reply that is passed on has begun. Comes once, before any bytes, and not at all when the transfer fails
    /// before.
    func transfer(_ transfer: Transfer, received head: OriginHead)

    /// The next bytes, valid for the time of the call, at their offset within what is wanted.
    ///
    /// Contiguous, from `OriginRequest.start` or 0, with one exception: after a break that could not be continued they
    /// begin again at 0. Then the receiver compares what it has already; it throws when that differs.
    /// - Throws: anything, to end the transfer with `contentChanged`.
    func transfer(_ transfer: Transfer, received bytes: UnsafeRawBufferPointer, at offset: Int64) throws

    /// The transfer has ended; comes once, and last. After success everything was passed on.
    func transfer(_ transfer: Transfer, ended result: Result<Void, OriginError>)
}
