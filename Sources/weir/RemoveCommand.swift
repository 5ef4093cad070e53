import API
import ArgumentParser

/// `weir remove`
struct RemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Delete assets from the store.")

    @Argument(help: ArgumentHelp("The assets' names.", valueName: "name"))
    var names: [String]

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await reporting(common) {
            let client = try common.daemon().client
            for name in names {
                let asset = try await client.asset(named: name)
                guard try yes || Self.agrees(asset) else {
                    throw Failure("\(name) was not removed", exitCode: 1, code: "declined")
                }
                let removal = try await client.removeAsset(named: name)
                Output.line("removed \(removal.name), \(Format.bytes(removal.bytes))")
                if let left = removal.left {
                    Output.error("weir: its files stay on a disk that is not there: delete \(left) when it is\n")
                }
            }
        }
    }

    private static func agrees(_ asset: API.Asset) throws(Failure) -> Bool {
        guard Terminal.canAsk else {
            throw Failure(
                "\(asset.name) is not removed without a yes", next: "weir remove \(asset.name) --yes", exitCode: 64,
                code: "usage")
        }
        if let place = asset.place, !place.isThere {
            Output.error("\(asset.name) is stored in \(place.path), which is not there: its files stay there\n")
        }
        Output.error("remove \(asset.name), \(Format.bytes(asset.bytes))? [y/N] ")
        let answer = readLine()?.lowercased() ?? ""
        return answer == "y" || answer == "yes"
    }
}
