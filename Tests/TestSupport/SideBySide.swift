package import Testing

/// The case of ``sideBySide(_:atOnce:_:)`` that the current task runs.
private enum RunningCase {
    @TaskLocal static var name: String?
}

/// Runs the cases of a table, several at the same time.
///
/// For tests that wait for players, clocks or origins much more than they compute: the arguments of a test run one after the
/// other. Give each case its own origin and store, and the test the trait ``Testing/Trait/namingCases``.
///
/// - Parameter limit: the number of cases that run at the same time. Players in real time drop frames beside too many others.
package func sideBySide<Case: Sendable>(
    _ cases: some Sequence<Case>, atOnce limit: Int = 4, _ body: @escaping @Sendable (Case) async throws -> Void
) async {
    await withTaskGroup(of: Void.self) { group in
        for (index, element) in cases.enumerated() {
            if index >= limit {
                await group.next()
            }
            group.addTask {
                await RunningCase.$name.withValue(String(describingForTest: element)) {
                    do {
                        try await body(element)
                    } catch {
                        Issue.record(error)
                    }
                }
            }
        }
    }
}

extension Trait where Self == IssueHandlingTrait {
    /// Adds the case of ``sideBySide(_:atOnce:_:)`` to each of the test's issues.
    package static var namingCases: Self {
        .compactMapIssues { issue in
            guard let name = RunningCase.name else { return issue }
            var issue = issue
            issue.comments.append("case: \(name)")
            return issue
        }
    }
}
