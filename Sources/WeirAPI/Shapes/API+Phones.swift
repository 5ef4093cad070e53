extension API {
    /// A phone or another device of the network that may use the page.
    package struct Phone: Codable, Equatable, Sendable {
        package var name: String
        /// Time when its link was made, in seconds since 1970.
        package var created: Int
        /// Time of its latest request, in seconds since 1970; absent before the first.
        package var seen: Int?
        package init(name: String, created: Int, seen: Int? = nil) {
            self.name = name
            self.created = created
            self.seen = seen
        }
    }

    /// The response of `GET /api/v1/phones`, in the order in which the links were made.
    package struct PhoneList: Codable, Equatable, Sendable {
        package var phones: [Phone]
        package init(phones: [Phone]) { self.phones = phones }
    }

    /// The body of `POST /api/v1/phones`.
    package struct PhoneRequest: Codable, Equatable, Sendable {
        package var name: String
        package init(name: String) { self.name = name }
    }

    /// The link of a new phone. It is shown once: only a digest of its token is kept.
    package struct PhoneLink: Codable, Equatable, Sendable {
        package var name: String
        package var url: String
        package init(name: String, url: String) {
            self.name = name
            self.url = url
        }
    }
}
