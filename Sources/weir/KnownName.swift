import Foundation
import Orders
import WeirAPI

/// The question whether an asset that has a name should get another one: whoever knows it by the first would not find it.
enum KnownName {
    /// Asks if an order would rename an asset that has a download. Throws if the answer is no, and if nobody can be asked.
    ///
    /// - Parameter mayAsk: false for a command whose output other programs read.
    static func confirm(_ request: API.DownloadRequest, in client: APIClient, mayAsk: Bool) async throws {
        // The name of an order to record is that of the recording.
        guard let name = request.name, request.order.record != true,
            let asset = try? await client.call(Endpoints.asset, PlayerURL.withoutPassword(request.source)),
            asset.name != name, asset.download != nil
        else { return }
        guard mayAsk, Terminal.canAsk else {
            throw CommandFailure(
                "this stream is known as \(asset.name), and would be renamed",
                next: "weir rename \(asset.name) \(CommandFailure.quoted(name)), and then this command without --name",
                exitCode: 65, code: APIError.Code.nameTaken.rawValue)
        }
        Output.error("This stream is known as \(asset.name). Rename it to \(name)? [y/N] ")
        let answer = readLine()?.lowercased() ?? ""
        guard answer == "y" || answer == "yes" else {
            throw CommandFailure(
                "\(asset.name) keeps its name, and nothing was ordered", next: "this command without --name",
                exitCode: 1,
                code: "declined")
        }
    }
}
