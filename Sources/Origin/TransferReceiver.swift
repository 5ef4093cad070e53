public import EventLoop

/// Receives the bytes of a transfer.
///
/// Called on the loop, never from within `OriginClient.start`, and never after `Transfer.cancel()`, which each of these
/// methods may call. The transfer retains the receiver until its end.
@LoopActor public protocol TransferReceiver: AnyObject {
    /// The final reply has begun. Called once, before any bytes; not called if the transfer fails earlier.
    func transfer(_ transfer: Transfer, received head: OriginHead)

    /// The next bytes, valid during the call, at their offset within the requested range.
    ///
    /// Contiguous, from `OriginRequest.start` or 0, with one exception: after a break that could not be resumed they
    /// restart at 0. The receiver must then compare the bytes that it has, and throw if they differ.
    /// - Throws: any error, to end the transfer with `contentChanged`.
    func transfer(_ transfer: Transfer, received bytes: UnsafeRawBufferPointer, at offset: Int64) throws

    /// The transfer has ended. Called once, and last. On success all bytes were delivered.
    func transfer(_ transfer: Transfer, ended result: Result<Void, OriginError>)
}
