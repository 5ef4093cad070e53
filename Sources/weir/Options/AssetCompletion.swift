import ArgumentParser
import Foundation
import SafeText
import WeirAPI

extension CompletionKind {
    /// The names of assets, from a daemon that runs. Completion starts none, and does not wait for a slow one.
    static var assetNames: CompletionKind { .custom { words, _, _ in await AssetCompletion.names(for: words) } }
}

/// Lists the names of assets for a shell.
enum AssetCompletion {
    private struct Name: Decodable, Sendable {
        let name: String
        let title: String?
    }

    /// - Parameter words: the command line so far, in which options may name the daemon.
    static func names(for words: [String]) async -> [String] {
        var options: [String] = []
        for option in ["--state", "--config"] {
            guard let index = words.firstIndex(of: option), index + 1 < words.count else { continue }
            options += [option, words[index + 1]]
        }

        guard let common = try? CommonOptions.parse(options),
            let daemon = try? common.daemon(starts: false, limit: .milliseconds(700)),
            let assets = try? await daemon.client.assets(as: Name.self, isBrief: true)
        else { return [] }
        return assets.map { candidate($0.name, title: $0.title, for: CompletionShell.requesting) }
    }

    /// A name with its title as the description, in the form of a shell: bash shows names only.
    static func candidate(_ name: String, title: String?, for shell: CompletionShell?) -> String {
        let words = Printable.line(title ?? "", limit: 60)
        guard !words.isEmpty, let shell else { return name }
        return switch shell {
        case .zsh: "\(name):\(words)"
        case .fish: "\(name)\t\(words)"
        default: name
        }
    }
}
