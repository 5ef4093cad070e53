package import Assets
import EventLoop
package import Sharing

/// The code of the library's error that `body` throws, itself or as the cause; nil if it throws no such error.
@LoopActor package func code(of body: @LoopActor () async throws -> Void) async -> LibraryError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return ((error as? ExchangeError)?.underlying as? LibraryError ?? error as? LibraryError)?.code
    }
}

/// The code of the exchange room's error that `body` throws; nil if it throws no such error.
@LoopActor package func exchangeCode(of body: @LoopActor () async throws -> Void) async -> ExchangeError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? ExchangeError)?.code
    }
}
