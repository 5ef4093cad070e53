import Foundation
import TestSupport
import Testing

extension Scene {
    /// Publishes an asset to its own prefix in an object store.
    func publish(
        _ name: String, to store: ObjectStore, _ environment: [String: String] = [:]
    ) async throws -> ProcessResult {
        try await weir.run(
            Self.publish(name, to: store), environment: ObjectStore.keys.merging(environment) { $1 })
    }

    /// The arguments of that command.
    static func publish(_ name: String, to store: ObjectStore) -> [String] {
        ["publish", name, "s3://\(ObjectStore.bucket)/\(name)", "--endpoint", store.endpoint]
    }

    /// Downloads a fixture and expects success.
    func store(_ fixture: String, _ options: [String] = []) async throws {
        let got = try await get(fixture, options)
        #expect(got.exit == .code(0), "\(got.errors)")
    }
}

/// Expects that a command succeeded and printed a line.
func expectLine(
    _ result: ProcessResult, _ line: String, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(
        result.exit == .code(0) && result.output == line + "\n", "\(result.output)\(result.errors)",
        sourceLocation: sourceLocation)
}

/// The paths of all files in an asset's published folder.
func publishedFiles(in folder: String) -> [String] {
    let found = FileManager.default.enumerator(atPath: folder)
    return (found?.allObjects as? [String] ?? []).filter { $0.split(separator: "/").last?.contains(".") ?? false }
        .filter { !$0.hasSuffix("SHA256SUMS") }.sorted()
}
