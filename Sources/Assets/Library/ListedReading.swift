package import EventLoop
package import HTTPMessage

/// The reading of the user's stored channel lists, which takes seconds for 100,000 channels. Meanwhile all else is served, and only those
/// who need a channel wait.
@LoopActor package final class ListedReading {
    /// True while a list is read.
    package private(set) var isInProgress = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    package init() {}

    package func begin() { isInProgress = true }

    /// Wakes those who wait: the channels of one more list are known.
    package func advance() {
        let woken = waiters
        waiters = []
        for waiter in woken {
            waiter.resume()
        }
    }

    package func end() {
        isInProgress = false
        advance()
    }

    /// Waits until the channels of one more list are known; not at all while no list is read.
    package func waitForNext() async {
        guard isInProgress else { return }
        await withCheckedContinuation { waiters.append($0) }
    }
}

extension Library {
    /// Waits while lists are read and none that was read has a stream of this name, unless an asset has it.
    package func waitForStream(named name: String) async {
        while listedReading.isInProgress, asset(named: name) == nil, asset(id: name) == nil,
            stream(named: name) == nil
        {
            await listedReading.waitForNext()
        }
    }

    /// Waits while lists are read and none that was read has this URL, unless it is that of an asset.
    package func waitForStream(at url: WebURL) async {
        while listedReading.isInProgress, asset(at: url) == nil, stream(at: url) == nil {
            await listedReading.waitForNext()
        }
    }

    /// Waits until all lists are read.
    package func waitForLists() async {
        while listedReading.isInProgress {
            await listedReading.waitForNext()
        }
    }
}
