import ArgumentParser
import Foundation
import Orders
import WeirAPI

struct PublishCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publish an asset on an object store or a file server, where it plays without Weir.",
        discussion: """
            Complete renditions are published as plain HLS: pieces first, then the playlists, and the entry playlist last, so \
            that no playlist names a missing file. Files that are already at the target are not sent again, and after an \
            interruption the same command continues. Files of an earlier publication that are not part of this one are deleted \
            last. Weir deletes no other files, and refuses a target that contains some. weir-published.txt at the target lists \
            Weir's files.

            Tokens, header fields and passwords are not published. The AES-128 keys that the playlists need are, as with weir \
            export: anyone who can read the target can play the asset.

            For s3://, the keys come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, else from the profile \
            AWS_PROFILE in ~/.aws/credentials. They need the rights to list, read, write and delete objects. rsync uses your ssh \
            keys where the daemon runs, and asks no questions.
            """)

    @Argument(help: ArgumentHelp("The asset's name.", valueName: "name"), completion: .assetNames)
    var name: String
    @Argument(
        help: ArgumentHelp(
            "The target: s3://BUCKET/PREFIX, rsync://HOST/MODULE/PATH, HOST:PATH for rsync over ssh, or a folder.",
            valueName: "target"))
    var target: String
    @Option(
        help: ArgumentHelp(
            "The server of an object store other than AWS, such as http://127.0.0.1:9000.", valueName: "url"))
    var endpoint: String?
    @Option(help: "The bucket's region; if left out, AWS_REGION, AWS_DEFAULT_REGION or us-east-1.")
    var region: String?
    @Flag(help: "Write one JSON object per line: progress, then a result.")
    var json = false
    @OptionGroup var common: CommonOptions

    func execute() async throws {
        let client = try common.daemon().client
        let request = try self.request(ProcessInfo.processInfo.environment)
        let follower = JobFollower<PublicationText>(
            client: client, style: ProgressReporter.Style(isJSON: json), state: common.state)
        if let failure = await follower.report(name, request) {
            throw failure
        }
    }

    /// The request to the daemon. Only object stores need keys.
    func request(_ environment: [String: String]) throws(CommandFailure) -> API.PublicationRequest {
        guard target.hasPrefix("s3://") else {
            let isFolder = target.split(separator: "/", omittingEmptySubsequences: false)[0].contains(":") == false
            guard isFolder else { return API.PublicationRequest(target: target) }
            return API.PublicationRequest(target: DiskPath.absolute(target))
        }
        let access = ObjectStoreAccess(environment) { path in try? String(contentsOfFile: path, encoding: .utf8) }
        guard let keys = access.keys else {
            throw CommandFailure(
                "there are no keys for \(target): \(access.lack)",
                next: "export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=…, then repeat the command", exitCode: 77,
                code: "unauthorized")
        }
        let endpoint = endpoint ?? access.endpoint
        let region = region ?? access.region
        return API.PublicationRequest(target: target, endpoint: endpoint, region: region, keys: keys)
    }
}

/// Output of `weir publish`.
enum PublicationText: JobText {
    static func stage(_ publication: API.Publication) -> String? {
        if publication.totalBytes > 0 {
            return nil
        }
        return "listing the target"
    }

    static func add(_ publication: API.Publication, to line: inout JSONLine) {
        line.add("files", publication.files)
        line.add("totalFiles", publication.totalFiles)
    }

    static func lines(_ publication: API.Publication) -> [String] {
        guard publication.state == .complete else { return [] }
        var words = ["\(publication.sentFiles) of \(publication.totalFiles) files sent"]
        words.append(Format.bytes(publication.sentBytes))
        if publication.deletedFiles > 0 {
            words.append("\(publication.deletedFiles) deleted")
        }
        return ["published \(publication.asset) to \(publication.target ?? "–"): \(words.joined(separator: ", "))"]
    }

    static func failure(_ publication: API.Publication) -> CommandFailure? {
        switch publication.state {
        case .complete: return nil
        case .failed:
            let problem = publication.error
            let code = problem?.code ?? .internal
            return CommandFailure(
                problem?.detail ?? "\(publication.asset) is not completely published", next: problem?.next,
                exitCode: code.exitCode, code: code.rawValue)
        case nil, .queued, .running, .paused, .waiting, .cancelled:
            return CommandFailure(
                "the publication of \(publication.asset) was cancelled", exitCode: 1, code: "cancelled")
        }
    }

    static func interruption(ofAsset name: String) -> (message: String, next: String) {
        ("\(name) is not completely published", "repeat the command: it continues where it stopped")
    }
}
