import EventLoop
import Glibc

/// The sockets of one libcurl multi handle, watched as libcurl requests.
///
/// libcurl stops watching a connection after each request and watches it again for the next. Its watch stays meanwhile,
/// which saves two system calls per request. This applies only to sockets whose closing is reported here: a watch that
/// outlives its socket would apply to another descriptor with the same number.
@LoopActor final class SocketWatches {
    private final class Entry {
        let interest: DescriptorWatch.Interest
        let watch: DescriptorWatch
        /// True while libcurl watches the socket.
        var isEnabled = true

        init(_ interest: DescriptorWatch.Interest, _ watch: consuming DescriptorWatch) {
            self.interest = interest
            self.watch = watch
        }
    }

    private var entries: [Int32: Entry] = [:]
    private var own: Set<Int32> = []
    /// Called when a socket is ready for the watched interest. Set once by the owner, which can refer to itself only
    /// after its initialisation.
    var ready: (Int32, DescriptorWatch.Interest) -> Void = { _, _ in }

    /// Records a new socket whose end `close` will report.
    func opened(_ socket: Int32) { own.insert(socket) }

    /// Changes a socket's watched interest; nil stops watching.
    func watch(_ socket: Int32, for interest: DescriptorWatch.Interest?) {
        let entry = entries[socket]
        guard let interest else {
            if own.contains(socket) { entry?.isEnabled = false } else { entries[socket] = nil }
            return
        }
        if let entry, entry.interest == interest { return entry.isEnabled = true }
        entries[socket] = nil
        entries[socket] = Entry(
            interest, DescriptorWatch(socket, for: interest) { [weak self] in self?.socketReady(socket, $0) })
    }

    private func socketReady(_ socket: Int32, _ what: DescriptorWatch.Interest) {
        guard let entry = entries[socket] else { return }
        if entry.isEnabled { return ready(socket, what) }
        // The peer has closed it or sends bytes that nothing reads: the watch would fire forever.
        entries[socket] = nil
    }

    /// Closes a socket as close(2) does.
    func close(_ socket: Int32) -> Int32 {
        entries[socket] = nil
        own.remove(socket)
        return Glibc.close(socket)
    }
}
