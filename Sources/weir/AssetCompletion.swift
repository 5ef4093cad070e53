import API
import ArgumentParser
import Foundation

extension CompletionKind {
    /// The names of assets, from a daemon that runs. Completion starts none, and does not wait for a slow one.
    static var assetNames: CompletionKind { .custom { words, _, _ in await AssetCompletion.names(for: words) } }
}

/// Lists the names of assets for a shell.
enum AssetCompletion {
    private struct Name: Decodable, Sendable {
        let name: String
    }

    /// - Parameter words: the command line so far, in which options may name the daemon.
    static func names(for words: [String]) async -> [String] {
        let places = ["--state", "--config"].flatMap { option in
            words.firstIndex(of: option).map { $0 + 1 < words.count ? [option, words[$0 + 1]] : [] } ?? []
        }
        guard let common = try? CommonOptions.parse(places),
            let daemon = try? common.daemon(starts: false, limit: .milliseconds(700)),
            let assets = try? await daemon.client.assets(as: Name.self, isBrief: true)
        else { return [] }
        return assets.map(\.name)
    }
}
