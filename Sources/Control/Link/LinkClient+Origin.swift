extension LinkClient {
    /// A client over HTTP: of the conditioner that is controlled at a URL, else of the one that was started last.
    public init(control: String?, state: StateDirectory) throws(ControlError) {
        let transport = OriginTransport(to: "link conditioner")
        let perform: ControlClient.Transport = { call throws(ControlError) in try await transport.perform(call) }
        if let control {
            try self.init(control: control, transport: perform)
        } else {
            try self.init(state: state, transport: perform)
        }
    }
}
