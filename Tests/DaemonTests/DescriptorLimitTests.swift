import Testing

@testable import Daemon

@Suite struct DescriptorLimitTests {
    @Test(arguments: [(nil, 256), (1_048_576, 256), (1_024, 256), (256, 64), (32, 16)])
    func fewDescriptorsAllowFewConnections(limit: Int?, connections: Int) {
        #expect(DescriptorLimit.connections(of: 256, limit: limit) == connections)
    }
}
