import EventLoop
import Glibc

/// The sockets of one libcurl multi handle, watched as it asks for.
///
/// libcurl lets a connection go after each request, and asks for it again at the next. Its watch stays meanwhile, since
/// to end and begin it costs two calls of the system for each request. That is for sockets of which the end is heard of
/// here: a watch that outlives its socket would hold for another descriptor with the same number.
@LoopActor final class SocketWatches {
    private final class Entry {
        let interest: DescriptorWatch.Interest
        let watch: DescriptorWatch
        /// Whether libcurl wants to hear of it.
        var isWanted = true

        init(_ interest: DescriptorWatch.Interest, _ watch: consuming DescriptorWatch) {
            self.interest = interest
            self.watch = watch
        }
    }

    private var entries: [Int32: Entry] = [:]
    private var own: Set<Int32> = []
    /// Told when a socket is ready for what libcurl watches it for.
    var ready: (Int32, DescriptorWatch.Interest) -> Void = { _, _ in }

    /// A socket was opened whose end will be told by `close`.
    func opened(_ socket: Int32) { own.insert(socket) }

    /// Watches a socket for something else from now on; for nothing with nil.
    func watch(_ socket: Int32, for interest: DescriptorWatch.Interest?) {
        let entry = entries[socket]
        guard let interest else {
            if own.contains(socket) { entry?.isWanted = false } else { entries[socket] = nil }
            return
        }
        if let entry, entry.interest == interest { return entry.isWanted = true }
        entries[socket] = nil
        entries[socket] = Entry(
            interest, DescriptorWatch(socket, for: interest) { [weak self] in self?.woken(socket, $0) })
    }

    private func woken(_ socket: Int32, _ what: DescriptorWatch.Interest) {
        guard let entry = entries[socket] else { return }
        if entry.isWanted { return ready(socket, what) }
        // The peer has closed it, or sends what nobody takes at present: that would wake the loop for ever.
        entries[socket] = nil
    }

    /// Closes a socket, as close(2) does.
    func close(_ socket: Int32) -> Int32 {
        entries[socket] = nil
        own.remove(socket)
        return Glibc.close(socket)
    }
}
