import Foundation
import Orders
import Testing

@Suite struct NeedTests {
    @Test func anEarlierCataloguesNameOfTheVolumeIsRead() {
        #expect(Need(stored: "disk") == .volume)
        #expect(Need.allCases.allSatisfy { Need(stored: $0.rawValue) == $0 })
        #expect(Need(stored: "disks") == nil)
    }

    @Test(arguments: Need.allCases)
    func theKindOfAReasonIsTheNameOfItsNeed(_ need: Need) throws {
        let reason = Reason(need, "it is so")
        let text = "{\"kind\":\"\(need.rawValue)\",\"message\":\"it is so\"}"
        #expect(try JSONDecoder().decode(Reason.self, from: Data(text.utf8)) == reason)
        #expect(try JSONDecoder().decode(Reason.self, from: JSONEncoder().encode(reason)) == reason)
        #expect(reason.need == need)
    }

    @Test func aPauseHasTheUsersOwnReason() throws {
        let text = #"{"kind":"user","message":"for the train"}"#
        let reason = try JSONDecoder().decode(Reason.self, from: Data(text.utf8))
        #expect(reason == Reason(kind: .user, message: "for the train") && reason.need == nil)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Reason.self, from: Data(#"{"kind":"mood","message":""}"#.utf8))
        }
    }
}
