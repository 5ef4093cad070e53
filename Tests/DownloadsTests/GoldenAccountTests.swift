import TestSupport
import Testing

@testable import Downloads

/// The account of a download as a later build must read it: `fixtures/golden/accounts`.
@Suite struct GoldenAccountTests {
    @Test func theAccountOfADownload() throws {
        var account = DownloadAccount(began: 1_790_000_000)
        account.ended = 1_790_000_100
        account.seconds = 90.5
        account.bytes = 48_000_000
        account.requests = 120
        account.retries = 2
        account.interruptions = 1
        account.interstitials = 1
        account.interstitialFaults = ["https://ads.example/2.m3u8: the origin answered 404"]
        account.origins = [.init(host: "cdn.example:8443", requests: 118, bytes: 47_990_000)]
        let text = account.stored
        #expect(try GoldenFiles("accounts").differences(from: ["account.json": text]) == [])
        #expect(DownloadAccount(stored: text) == account)
    }
}
