import API
import ArgumentParser
import Foundation

/// `weir publish`
struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Put an asset on an object store or a file server, where it plays without Weir.",
        discussion: """
            What is stored whole goes there as plain HLS: pieces first, then the playlists, the one to play last, so that \
            nobody finds a playlist that names what is not there. What is there already is not sent again, and after an \
            interruption the same command goes on. Files that an earlier publication has put there, and that are no part of \
            this one, are deleted last; what Weir did not put there stays, and a place where there is something else is \
            refused. weir-published.txt there lists Weir's files.

            No token, header field or password goes along. The AES-128 keys that the playlists need do, as with weir \
            export: who may read the place can play the film.

            s3:// takes keys from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, else from the profile \
            AWS_PROFILE in ~/.aws/credentials. They may list, read, write and delete objects there. rsync uses your ssh keys \
            where the daemon runs, and asks nothing.
            """)

    @Argument(help: ArgumentHelp("The asset's name.", valueName: "name"))
    var name: String

    @Argument(
        help: ArgumentHelp(
            "Where to: s3://BUCKET/PREFIX, rsync://HOST/MODULE/PATH, HOST:PATH as rsync writes it, or a folder.",
            valueName: "target"))
    var target: String

    @Option(
        help: ArgumentHelp(
            "The server of an object store that is not AWS's, such as http://127.0.0.1:9000.", valueName: "url"))
    var endpoint: String?

    @Option(help: "The bucket's region; else AWS_REGION, AWS_DEFAULT_REGION or us-east-1.")
    var region: String?

    @Flag(help: "Write one JSON object per line: progress, then a result.")
    var json = false

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await reporting(common) {
            let client = try common.daemon().client
            let request = try self.request(ProcessInfo.processInfo.environment)
            let follower = JobFollower<PublicationText>(
                client: client, style: ProgressReporter.Style(isJSON: json), state: common.state)
            if let failure = await follower.report(name, request) { throw failure }
        }
    }

    /// The request to the daemon. Only object stores need keys.
    func request(_ environment: [String: String]) throws(Failure) -> API.PublicationRequest {
        guard target.hasPrefix("s3://") else {
            let isFolder = target.split(separator: "/", omittingEmptySubsequences: false)[0].contains(":") == false
            return API.PublicationRequest(target: isFolder ? DiskPath.absolute(target) : target)
        }
        let access = ObjectStoreAccess(environment) { path in try? String(contentsOfFile: path, encoding: .utf8) }
        guard let keys = access.keys else {
            throw Failure(
                "there are no keys for \(target): \(access.lack)",
                next: "export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=…, then the same command", exitCode: 77,
                code: "unauthorized")
        }
        return API.PublicationRequest(
            target: target, endpoint: endpoint ?? access.endpoint, region: region ?? access.region, keys: keys)
    }
}
