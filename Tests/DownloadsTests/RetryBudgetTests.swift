import Assets
import HTTPMessage
import Orders
import Origin
import Store
import Testing

@testable import Downloads

@Suite struct RetryBudgetTests {
    private static let pauses: ClosedRange<Duration> = .seconds(2)...(.seconds(60))

    private func error(_ code: OriginError.Code) throws -> LibraryError {
        LibraryError(OriginError(code, url: try WebURL("https://host/1.ts?token=x")))
    }

    private func verdict(_ retryBudget: inout RetryBudget, _ outcome: DownloadOutcome) -> String {
        switch retryBudget.verdict(on: outcome, of: "sintel", pauses: Self.pauses) {
        case .complete: "complete"
        case .lookAgain(_, let pause): "again \(pause.components.seconds)"
        case .fail(let failure): "fail \(failure.code.stored)"
        case .wait(let need, _, let pause): "\(need.rawValue) \(pause.components.seconds)"
        }
    }

    @Test func waitsForAnAbsentOriginWithoutLimitWithDoublingPauses() throws {
        var retryBudget = RetryBudget()
        let absent = DownloadOutcome.failed(try error(.unreachable))
        let verdicts = (0..<8).map { _ in verdict(&retryBudget, absent) }
        #expect(verdicts == [2, 4, 8, 16, 32, 60, 60, 60].map { "network \($0)" })
        retryBudget.recordProgress()
        #expect(verdict(&retryBudget, absent) == "network 2")
    }

    @Test(arguments: [OriginError.Code.serverFailure, .cutShort, .stalled, .connectionLost])
    func transientErrorsAreRetriedAFewTimesSinceTheLastPiece(_ code: OriginError.Code) throws {
        var retryBudget = RetryBudget()
        let outcome = DownloadOutcome.failed(try error(code))
        let isAbsence = [.stalled, .connectionLost].contains(code)
        for _ in 0..<GiveUpRule.downloadRetries {
            #expect(verdict(&retryBudget, outcome).hasPrefix("network"))
        }
        #expect(verdict(&retryBudget, outcome) == (isAbsence ? "network 8" : "fail badOrigin"))
        retryBudget.recordProgress()
        #expect(verdict(&retryBudget, outcome) == "network 2")
    }

    @Test(arguments: [OriginError.Code.unauthorized, .gone, .tooLarge, .contentChanged, .rangeIgnored])
    func permanentErrorsFailAtOnce(_ code: OriginError.Code) throws {
        var retryBudget = RetryBudget()
        #expect(verdict(&retryBudget, .failed(try error(code))).hasPrefix("fail"))
    }

    /// Busy edges answer so for a moment.
    @Test(arguments: [OriginError.Code.notFound, .forbidden, .unexpectedStatus])
    func anAnswerThatIsRarelyWrongIsAskedForOnceMore(_ code: OriginError.Code) throws {
        for isKey in [false, true] {
            var retryBudget = RetryBudget()
            let outcome = DownloadOutcome.failed(try error(code), isKey: isKey)
            #expect(verdict(&retryBudget, outcome) == "again 2")
            let end = verdict(&retryBudget, outcome)
            #expect(isKey && code == .forbidden ? end == "key 4" : end.hasPrefix("fail"), "\(code) \(end)")
        }
        var retryBudget = RetryBudget()
        let page = DownloadOutcome.failed(LibraryError(.badOrigin, "1.ts was answered with HTML instead of media"))
        #expect(verdict(&retryBudget, page) == "again 2")
        #expect(verdict(&retryBudget, page) == "fail badOrigin")
        retryBudget.recordProgress()
        #expect(verdict(&retryBudget, page) == "again 2")
    }

    @Test func aDeadHostIsLookedAtOnceMoreAndThenItsPiecesAreMissing() throws {
        var retryBudget = RetryBudget()
        let dead = DownloadOutcome.failed(try error(.hostDead), count: 3)
        #expect(verdict(&retryBudget, dead) == "again 2")
        guard case .fail(let failure) = retryBudget.verdict(on: dead, of: "sintel", pauses: Self.pauses) else {
            Issue.record("no failure")
            return
        }
        #expect(failure.code == .library(.hostDead))
        #expect(
            failure.message
                == "sintel is not complete: https://host/1.ts?… could not be reached, although other hosts answer; "
                + "2 more pieces are missing, too"
        )
        retryBudget.recordProgress()
        #expect(verdict(&retryBudget, dead) == "again 2")
    }

    /// If many requests use one token, some are refused even with a fresh token.
    @Test func aRefusalIsRetriedWhilePiecesArrive() throws {
        var retryBudget = RetryBudget()
        let refused = DownloadOutcome.failed(try error(.forbidden))
        for _ in 0..<9 {
            retryBudget.recordProgress()
            #expect(verdict(&retryBudget, refused) == "network 2")
        }
        #expect(verdict(&retryBudget, refused) == "fail originRefused")
    }

    @Test func waitsForARefusedKeyAndAFullDisk() throws {
        var retryBudget = RetryBudget()
        #expect(verdict(&retryBudget, .failed(try error(.unauthorized), isKey: true)) == "key 2")
        #expect(verdict(&retryBudget, .storeFailed(StoreError(.diskFull, path: "x"))) == "space 4")
        let wrapped = LibraryError(StoreError(.diskFull, path: "x"), about: "no place")
        #expect(verdict(&retryBudget, .failed(wrapped)) == "space 8")
        #expect(verdict(&retryBudget, .storeFailed(StoreError(.io, path: "x"))) == "fail io")
        #expect(verdict(&retryBudget, .complete) == "complete")
    }

    @Test func aFailureNamesTheResourceAndTheCountWithoutSecrets() throws {
        var retryBudget = RetryBudget()
        let outcome = DownloadOutcome.failed(try error(.gone), count: 3)
        guard case .fail(let failure) = retryBudget.verdict(on: outcome, of: "sintel", pauses: Self.pauses) else {
            Issue.record("no failure")
            return
        }
        #expect(failure.message.contains("https://host/1.ts") && !failure.message.contains("token"))
        #expect(failure.message.hasSuffix("; so are 2 more"))
    }
}
