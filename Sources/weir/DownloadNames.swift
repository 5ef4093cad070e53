import API
import ArgumentParser

/// The downloads that a command applies to: by their assets' names, or all.
struct DownloadNames: ParsableArguments {
    @Argument(help: ArgumentHelp("The assets' names, or their URLs.", valueName: "name"))
    var names: [String] = []

    @Flag(help: "All downloads to which the command applies.")
    var all = false

    func validate() throws {
        if names.isEmpty != all { throw ValidationError("Give names, or --all.") }
    }

    /// Changes each download and prints its new state. Continues after a failure, and then ends with it.
    ///
    /// - Parameters:
    ///   - request: for `resume`.
    ///   - isConcerned: selects from all downloads.
    func perform(
        _ change: API.DownloadChange, _ request: API.ResumeRequest = API.ResumeRequest(), in daemon: Daemon,
        isConcerned: (API.Download) -> Bool
    ) async throws {
        var failure: (any Error)?
        for id in try await ids(in: daemon.client, isConcerned) {
            do {
                let download = try await daemon.client.change(change, id: try id.get(), request)
                Output.line("\(download.asset)  \(download.stateWords)")
                if download.state == .failed, change == .resume, let reason = download.error {
                    failure = failure ?? APIError(reason.code, reason.message)
                }
            } catch {
                if let failure { Output.error(Failure(failure).text) }
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private func ids(
        in client: APIClient, _ isConcerned: (API.Download) -> Bool
    ) async throws -> [Result<String, any Error>] {
        guard !all else { return try await client.downloads().filter(isConcerned).map { .success($0.id) } }
        var ids: [Result<String, any Error>] = []
        for name in names {
            do {
                ids.append(.success(try await Self.id(of: name, in: client)))
            } catch let error as APIError where error.code == .noDaemon {
                throw error
            } catch {
                ids.append(.failure(error))
            }
        }
        return ids
    }

    private static func id(of name: String, in client: APIClient) async throws -> String {
        let asset = try await client.asset(named: name)
        if let id = asset.download { return id }
        throw APIError(.noSuchDownload, "\(asset.name) has no download", next: "weir get \(asset.name)")
    }
}
