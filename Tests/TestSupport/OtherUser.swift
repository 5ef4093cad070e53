import Glibc

/// A client that runs as another user of this machine, with the number 1. Only root can start one.
package enum OtherUser {
    package static let number: UInt32 = 1
    package static var exists: Bool { geteuid() == 0 }
    /// The wrapper that runs a program of the system as this user.
    package static let wrapper = [
        "setpriv", "--reuid=\(number)", "--regid=\(number)", "--clear-groups", "env", "PATH=/usr/bin:/bin",
    ]

    /// Requests a URL, and returns the status and the body as text.
    package static func fetch(
        _ url: String, method: String = "GET", fields: [String] = [], body: String = ""
    ) async throws -> (status: Int, text: String) {
        let script = """
            import http.client, sys
            url, method, body, fields = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
            place, _, target = url.removeprefix("http://").partition("/")
            connection = http.client.HTTPConnection(place, timeout=20)
            connection.request(method, "/" + target, body or None, dict(field.split(": ", 1) for field in fields))
            answer = connection.getresponse()
            print(answer.status)
            print(answer.read().decode("latin-1"), end="")
            """
        let line = wrapper + ["python3", "-I", "-c", script, url, method, body] + fields
        let result = try await ProcessRunner.run(line[0], Array(line.dropFirst()))
        let parts = result.output.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        guard let status = parts.first.flatMap({ Int($0) }) else { throw TimedOut("a status: \(result.errors)") }
        return (status, parts.count > 1 ? String(parts[1]) : "")
    }
}
