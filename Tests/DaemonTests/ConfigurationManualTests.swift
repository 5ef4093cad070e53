import Foundation
import TestSupport
import Testing

@testable import Daemon

/// Texts that are generated from the table of keys. `tools/make/keys` writes the committed files.
@Suite struct ConfigurationManualTests {
    private let writes = ProcessInfo.processInfo.environment["WEIR_WRITE_GUIDE"] != nil

    @Test func theShippedFileIsThatOfTheTable() throws {
        let path = Repository.path("conf/weir.toml")
        if writes {
            try ConfigurationManual.file.write(toFile: path, atomically: true, encoding: .utf8)
        }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text == ConfigurationManual.file, "run tools/make/keys")
    }

    @Test func theGuidesTableIsThatOfTheKeys() throws {
        let path = Repository.path("Sources/weir/Weir.docc/Configuration.md")
        var text = try String(contentsOfFile: path, encoding: .utf8)
        let first = try #require(text.firstRange(of: ConfigurationManual.tableHead)?.lowerBound)
        let end = text[first...].firstRange(of: "\n\n")?.lowerBound ?? text.endIndex
        let table = ConfigurationManual.table.dropLast()
        guard text[first..<end] != table else { return }
        try #require(writes, "run tools/make/keys")
        text.replaceSubrange(first..<end, with: table)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    @Test(arguments: Configuration.Key.allCases)
    func eachKeyHasOneLineAndOneRow(_ key: Configuration.Key) {
        let lines = ConfigurationManual.file.split(separator: "\n")
        let settings = lines.prefix { $0 != "[selection]" }.filter { $0.hasPrefix("\(key.rawValue) = ") }
        #expect(settings.count == 1)
        let rows = ConfigurationManual.table.split(separator: "\n").filter { $0.contains(" | `\(key.rawValue)` | ") }
        #expect(rows.count == 1)
        #expect(key.option.help.hasSuffix(".") && !key.option.help.contains("|"))
    }
}
