import ArgumentParser
import Control
import Testing
import WeirAPI

@testable import weir

@Suite("Keys of an object store")
struct ObjectStoreAccessTests {
    private static let file = """
        # mine
        [default]
        aws_access_key_id = A1
        aws_secret_access_key=S1/+=
        [work]
        AWS_ACCESS_KEY_ID = A2
        aws_secret_access_key = S2
        aws_session_token = T2
        [half]
        aws_access_key_id = A3
        """

    private func access(_ environment: [String: String]) -> ObjectStoreAccess {
        ObjectStoreAccess(environment.merging(["HOME": "/home/me"]) { $1 }) { path in
            ["/home/me/.aws/credentials", "/etc/keys"].contains(path) ? Self.file : nil
        }
    }

    @Test("come from the environment, else from the profile that it names")
    func keys() {
        let given = access([
            "AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S", "AWS_SESSION_TOKEN": "T", "AWS_PROFILE": "work",
        ])
        #expect(given.keys == .init(accessKey: "A", secretKey: "S", sessionToken: "T"))
        #expect(access([:]).keys == .init(accessKey: "A1", secretKey: "S1/+="))
        #expect(access(["AWS_PROFILE": "work"]).keys == .init(accessKey: "A2", secretKey: "S2", sessionToken: "T2"))
        #expect(access(["AWS_ACCESS_KEY_ID": "A"]).keys == .init(accessKey: "A1", secretKey: "S1/+="))
        #expect(access(["AWS_SHARED_CREDENTIALS_FILE": "/etc/keys"]).keys?.accessKey == "A1")
        #expect(access(["AWS_DEFAULT_REGION": "r", "AWS_ENDPOINT_URL": "http://h"]).region == "r")
    }

    @Test("that are not there are told of without a word of others")
    func lack() {
        for environment in [["AWS_PROFILE": "half"], ["AWS_PROFILE": "none"], ["AWS_SHARED_CREDENTIALS_FILE": "/none"]]
        {
            let access = access(environment)
            #expect(access.keys == nil && access.lack.contains("has no profile") && !access.lack.contains("A3"))
        }
    }

    @Test("go to nobody but an object store")
    func request() async throws {
        let environment = ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S"]
        for target in ["/srv/film", "film", "rsync://h/m/film", "host:/film"] {
            let request = try await PublishCommand.asyncParse(["film", target]).request(environment)
            #expect(request.keys == nil && (request.target == target || request.target.hasSuffix("/film")))
        }
        let request = try await PublishCommand.asyncParse(["film", "s3://b/p", "--region", "r"]).request(environment)
        #expect(request.keys?.secretKey == "S" && request.region == "r" && request.target == "s3://b/p")
    }
}
