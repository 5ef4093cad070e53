public import ArgumentParser
public import SafeText

/// Numbers of options: any form that Swift reads, but neither negative nor too large, and always a number.
extension BoundedNumber {
    /// Reads an option's value; nil makes the command line refuse it.
    public init?(argument: String) {
        guard let value = Double(argument), value <= Self.largest else { return nil }
        self.init(value)
    }
}

extension Seconds: ExpressibleByArgument {}
extension Ratio: ExpressibleByArgument {}
