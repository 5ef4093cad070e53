import Foundation
import WeirAPI

/// Finds the keys of an object store as AWS's own programs do: in the environment, or in a profile of a file.
///
/// The keys belong to the user of the command. The daemon may run as another user, so the command finds the keys and
/// sends them in the body of one authenticated request on this machine. They are never arguments of a command, which
/// every user of the machine can read.
struct ObjectStoreAccess {
    /// The keys; nil if there are none, with the reason in `lack`.
    let keys: API.PublicationRequest.Keys?
    let lack: String
    let region: String?
    /// The endpoint of an object store other than AWS, from the environment or the profile.
    let endpoint: String?

    /// - Parameter read: returns the text of a file; nil if it cannot be read.
    init(_ environment: [String: String], read: (String) -> String?) {
        func value(_ names: String...) -> String? { names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } }
        region = value("AWS_REGION", "AWS_DEFAULT_REGION")
        endpoint = value("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")

        if let access = value("AWS_ACCESS_KEY_ID"), let secret = value("AWS_SECRET_ACCESS_KEY") {
            keys = .init(accessKey: access, secretKey: secret, sessionToken: value("AWS_SESSION_TOKEN"))
            lack = ""
            return
        }

        let profile = value("AWS_PROFILE") ?? "default"
        let home = value("HOME") ?? ""
        let path = value("AWS_SHARED_CREDENTIALS_FILE") ?? "\(home)/.aws/credentials"
        let text = read(path) ?? ""
        let entries = Self.entries(of: profile, in: text)

        if let access = entries["aws_access_key_id"], let secret = entries["aws_secret_access_key"] {
            keys = .init(accessKey: access, secretKey: secret, sessionToken: entries["aws_session_token"])
            lack = ""
        } else {
            keys = nil
            lack =
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set, and \(path) has no profile \(profile) with keys"
        }
    }

    /// Parses the lines `name = value` under `[profile]`.
    private static func entries(of profile: String, in text: String) -> [String: String] {
        var isOurs: Bool = false
        var entries: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline).map({ $0.trimmingCharacters(in: .whitespaces) }) {
            if line.hasPrefix("[") {
                isOurs = line.dropFirst().prefix { $0 != "]" }.trimmingCharacters(in: .whitespaces) == profile
            } else if isOurs, !line.hasPrefix("#"), !line.hasPrefix(";"), let sign = line.firstIndex(of: "=") {
                let name = line[..<sign].trimmingCharacters(in: .whitespaces).lowercased()
                entries[name] = line[line.index(after: sign)...].trimmingCharacters(in: .whitespaces)
            }
        }
        return entries
    }
}
