import Assets
import Store
import Testing

/// The codes of failures in the catalogue.
@Suite struct JobFailureTests {
    private static let codes =
        LibraryError.Code.allCases.map { JobFailure.Code.library($0) }
        + StoreError.Code.allCases.map { .store($0) } + [.rule, .unreadable]

    @Test(arguments: codes)
    func aCodeIsReadAsItWasStored(code: JobFailure.Code) {
        #expect(JobFailure.Code(stored: code.stored) == code)
    }

    @Test(arguments: [
        ("missing", JobFailure.Code.library(.missing)), ("diskFull", .store(.diskFull)), ("rule", .rule),
        ("unreadable", .unreadable), ("", .store(.io)), ("of a later version", .store(.io)), ("store.x", .store(.io)),
    ])
    func aStoredTextHasItsCode(text: String, code: JobFailure.Code) {
        #expect(JobFailure.Code(stored: text) == code)
    }
}
