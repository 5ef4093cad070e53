import EventLoop
import Testing

@testable import Fetching

@LoopActor @Suite struct OpenFoldersTests {
    private final class Holder: FolderHolder {
        var latestUse = 0
        var isOpen = true
        func park() { isOpen = false }
    }

    @Test func theFolderThatWasNotUsedForLongestIsClosed() {
        let folders = OpenFolders(limit: 3)
        let holders = (0..<4).map { _ in Holder() }
        for holder in holders.prefix(3) {
            folders.add(holder)
        }
        folders.recordUse(of: holders[0])
        folders.add(holders[3])
        #expect(holders.map(\.isOpen) == [true, false, true, true])
    }

    @Test func aClosedOrDroppedFolderIsNotCounted() {
        let folders = OpenFolders(limit: 3)
        let kept = Holder()
        folders.add(kept)
        for _ in 0..<8 {
            folders.add(Holder())
        }
        let closed = Holder()
        folders.add(closed)
        closed.park()
        folders.add(Holder())
        #expect(kept.isOpen)
        // A folder that is opened again is counted once.
        for _ in 0..<8 {
            folders.add(kept)
        }
        #expect(kept.isOpen)
    }
}
