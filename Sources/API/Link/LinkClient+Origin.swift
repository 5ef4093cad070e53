extension LinkClient {
    /// A client over HTTP: of the conditioner that is controlled at a URL, else of the one that was started last.
    public init(control: String?, state: StateDirectory) throws(APIError) {
        let transport = OriginTransport(to: "link conditioner")
        let perform: APIClient.Transport = { call throws(APIError) in try await transport.perform(call) }
        if let control {
            try self.init(control: control, transport: perform)
        } else {
            try self.init(state: state, transport: perform)
        }
    }
}
