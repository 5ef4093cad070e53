internal import FoundationEssentials
internal import Glibc
internal import Origin

/// The certificates of the authorities that sign those of origins: the system's, or the file that the environment names, and
/// those that the user adds.
package struct TrustedAuthorities: Equatable, Sendable {
    /// The files instead of the system's, by `CURL_CA_BUNDLE` and `SSL_CERT_FILE`; empty for the system's.
    package private(set) var bundles: [String]
    /// The variables that name files and folders.
    package private(set) var variables: [String]
    /// The key `ca-file`: certificates beside the others.
    package var file: String?
    /// The key `ca-folder`, and `SSL_CERT_DIR`: folders with further certificates.
    package var folder: String?
    private var variableFolders: [String] = []

    init(environment: [String: String]) {
        variables = ["CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"].filter { !(environment[$0] ?? "").isEmpty }
        bundles = ["CURL_CA_BUNDLE", "SSL_CERT_FILE"].compactMap { environment[$0] }.filter { !$0.isEmpty }
        // Often both name the same file.
        if bundles.count == 2, bundles[0] == bundles[1] {
            bundles.removeLast()
        }
        variableFolders = (environment["SSL_CERT_DIR"] ?? "").split(separator: ":").map(String.init)
    }

    /// The folders with further certificates.
    package var folders: [String] { variableFolders + [folder].compactMap(\.self) }

    /// Returns the path of a file with all certificates; nil for libcurl's own. libcurl keeps the parsed certificates
    /// between connections for one file only, so several sources are joined in a new file in `state`. Sources that cannot be
    /// read are reported and left out.
    func prepare(in state: String, report: (String) -> Void) -> String? {
        let named = bundles.filter { access($0, R_OK) == 0 }
        for missing in bundles where !named.contains(missing) {
            report("\(missing), which \(variables.joined(separator: " or ")) names, cannot be read: it is left out")
        }
        let files = [file].compactMap(\.self) + folders.flatMap { Self.files(in: $0, report: report) }
        var bases = named
        if bases.isEmpty {
            bases = [OriginClient.library.authorities].compactMap(\.self)
        }
        let sources = bases + files
        if sources.count == 1 {
            return named.first
        }
        let path = state + "/authorities.pem"
        let text = Self.joined(sources, report: report)
        // The daemon runs as often with the same certificates; a file that does not change needs no write.
        if FileManager.default.contents(atPath: path) == text {
            // An earlier version wrote it for all to read.
            chmod(path, 0o600)
            return path
        }
        guard Self.write(text, to: path) else {
            report("\(path) cannot be written: only the certificates of \(file ?? sources[0]) are used")
            return file ?? named.first
        }
        return path
    }

    /// Replaces a file that only its owner may read.
    private static func write(_ text: Data, to path: String) -> Bool {
        let temporary = path + ".new"
        let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: temporary, contents: text, attributes: mode) else { return false }
        return rename(temporary, path) == 0
    }

    /// All certificates of files in PEM, each once.
    private static func joined(_ sources: [String], report: (String) -> Void) -> Data {
        var known = Set<Substring>()
        var text = ""
        for source in sources {
            guard let data = FileManager.default.contents(atPath: source) else {
                report("\(source) cannot be read: its certificates are not used")
                continue
            }
            var rest = String(decoding: data, as: UTF8.self)[...]
            while let begin = rest.firstRange(of: "-----BEGIN"), let end = rest.firstRange(of: "-----END"),
                begin.lowerBound < end.lowerBound
            {
                let line = rest[end.lowerBound...].prefix { !$0.isNewline }
                let block = rest[begin.lowerBound..<line.endIndex]
                if known.insert(block).inserted {
                    text += block + "\n"
                }
                rest = rest[line.endIndex...]
            }
        }
        return Data(text.utf8)
    }

    private static func files(in folder: String, report: (String) -> Void) -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            report("\(folder) cannot be read: its certificates are not used")
            return []
        }
        // Hashed names are links to the others.
        return names.filter { name in [".pem", ".crt", ".cer"].contains { name.hasSuffix($0) } }.sorted().map {
            "\(folder)/\($0)"
        }
    }

    /// The sources in words.
    package var summary: String {
        var sources = bundles
        if sources.isEmpty {
            sources.append("the system's (\(OriginClient.library.authorities ?? "none"))")
        }
        sources += [file].compactMap(\.self) + folders
        let list = sources.joined(separator: ", ")
        guard !variables.isEmpty else { return list }
        return "\(list) (by \(variables.joined(separator: ", ")))"
    }
}
