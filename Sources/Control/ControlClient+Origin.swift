extension ControlClient {
    /// A client over HTTP.
    public init(state: StateDirectory) {
        self.init(state: state) { call throws(ControlError) in
            throw ControlError(.noDaemon, "no daemon answers at \(call.url)")
        }
    }
}
