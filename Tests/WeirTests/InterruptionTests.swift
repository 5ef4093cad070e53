import Glibc
import Testing

@testable import weir

@Suite struct InterruptionTests {
    /// On a busy machine Ctrl-C can come with the first word that the work shows.
    @Test(.timeLimit(.minutes(1))) func aSignalAtTheFirstMomentOfTheWorkCancelsIt() async {
        let (endless, source) = AsyncStream.makeStream(of: Void.self)
        let wasCancelled = await Interruption.orEnd {
            kill(getpid(), SIGINT)
            for await _ in endless {}
            return Task.isCancelled
        }
        source.finish()
        #expect(wasCancelled)
    }
}
