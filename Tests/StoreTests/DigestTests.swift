import Glibc
import Testing

@testable import Store

@Suite struct DigestTests {
    /// The store's threads may still hash then. By default libcrypto frees what they use.
    @Test func digestsAreComputedWhileTheProcessExits() async {
        await #expect(processExitsWith: .success) {
            // Handlers run in reverse order: this one runs after any that the first digest registers.
            atexit { _ = DigestState().digest }
            _ = DigestState().digest
            exit(EXIT_SUCCESS)
        }
    }
}
