import CLibcurl
public import EventLoop
public import HTTPMessage

/// Keeps the cookies of jars, one file for each. Lines are secret.
@LoopActor protocol CookieStorage: AnyObject {
    /// Called soon after a reply has changed the cookies.
    func keep(_ lines: [String], in file: String)
    /// Reads the kept lines, at a jar's first use.
    func lines(in file: String) -> [String]
}

/// The cookies of one asset, in libcurl's cookie engine: set by any reply to its requests, and sent by their own scope
/// (domain, path, Secure, expiry, public suffixes).
///
/// They live in a share of their own, so that no other asset's requests see them. Opened on first use.
@LoopActor public final class CookieJar {
    /// Keeps the cookies; nil for a jar that is not kept.
    weak var storage: (any CookieStorage)? {
        didSet {
            if isChanged {
                recordChange()
            }
        }
    }
    /// The name of the file that keeps the cookies.
    var file = ""
    /// True if the cookies have changed since they were kept.
    private var isChanged = false
    /// Cookies of the user's file that no request has needed yet.
    private var offered: [StoredCookie] = []
    private var share: UnsafeMutableRawPointer?
    private var kept: [String] = []
    private var timer: LoopTimer?
    private var lastSave = ContinuousClock.now - pause
    /// Least time between two saves: some origins renew a cookie with each segment.
    private static let pause = Duration.seconds(1)
    /// Most cookies: libcurl has no limit, and an origin may invent names without end.
    private static let maximumCount = 1000

    /// Creates an empty jar.
    public init() {}

    isolated deinit {
        if let share {
            curl_share_cleanup(share)
        }
    }

    /// Offers cookies of the user's file. Each is kept as soon as a request goes to a host that it matches; the others
    /// are never written anywhere.
    public func offer(_ cookies: [StoredCookie]) { offered += cookies }

    /// All cookies, one per line in Netscape's format. Secret.
    public var lines: [String] {
        open()
        return edit { handle -> [String] in
            var list: UnsafeMutablePointer<curl_slist>?
            _ = weir_easy_get_list(handle, CURLINFO_COOKIELIST, &list)
            defer { curl_slist_free_all(list) }
            var lines: [String] = []
            var next = list
            while let entry = next {
                if let line = entry.pointee.data {
                    lines.append(String(cString: line))
                }
                next = entry.pointee.next
            }
            return lines
        } ?? []
    }

    /// Prepares a handle for a request to `host`.
    func attach(to handle: UnsafeMutableRawPointer, host: String) {
        open()
        admit(host: host)
        guard let share else { return }
        _ = weir_easy_set_pointer(handle, CURLOPT_SHARE, share)
        // Enables the engine; no file is read.
        _ = weir_easy_set_text(handle, CURLOPT_COOKIEFILE, "")
    }

    /// Removes what `attach` set.
    static func detach(from handle: UnsafeMutableRawPointer) {
        // While the share is attached, this removes no cookies.
        _ = weir_easy_set_text(handle, CURLOPT_COOKIEFILE, nil)
        _ = weir_easy_set_pointer(handle, CURLOPT_SHARE, nil)
    }

    /// The given Cookie field without the cookies that an origin has renewed since; empty if none is left.
    func merge(_ given: String, host: String) -> String {
        let cookies = lines.compactMap { StoredCookie($0.utf8) }.filter { $0.matches(host: host) }
        let names = Set(cookies.map(\.name))
        guard !names.isEmpty else { return given }
        return given.split(separator: ";").filter { pair in
            let name = pair.prefix { $0 != "=" }.drop { $0 == " " }
            return !names.contains(String(name))
        }.map { String($0.drop { $0 == " " }) }.joined(separator: "; ")
    }

    /// Notes that a reply has set a cookie.
    func recordChange() {
        isChanged = true
        guard storage != nil else { return }
        if timer == nil {
            timer = LoopTimer { [unowned self] in save() }
        }
        timer?.schedule(after: max(.zero, Self.pause - (.now - lastSave)))
    }

    /// Saves the cookies now if they have changed.
    public func save() {
        guard share != nil, let storage else { return }
        timer?.cancel()
        lastSave = .now
        isChanged = false
        var lines = lines
        if lines.count > Self.maximumCount {
            edit { _ = weir_easy_set_text($0, CURLOPT_COOKIELIST, "ALL") }
            add(kept)
            lines = kept
        }
        guard Set(lines) != Set(kept) else { return }
        kept = lines
        storage.keep(lines, in: file)
    }

    /// Frees libcurl's part until the next use, unless that has cookies that are kept nowhere else.
    public func close() {
        save()
        guard let opened = share, storage != nil || lines.isEmpty else { return }
        // Fails while a request uses it.
        if curl_share_cleanup(opened) == CURLSHE_OK {
            share = nil
        }
    }

    /// True if libcurl's part is in memory.
    var isOpen: Bool { share != nil }
    /// True if its file has all that it holds.
    public var canBeReadAgain: Bool { share == nil && storage != nil && !isChanged && offered.isEmpty }

    private func open() {
        guard share == nil, let share = curl_share_init() else { return }
        // All requests run on the loop's thread, so that libcurl needs no locks.
        _ = weir_share_share(share, CURL_LOCK_DATA_COOKIE)
        // TLS sessions are resumed by the same asset alone: a ticket would link its requests to those of others.
        _ = weir_share_share(share, CURL_LOCK_DATA_SSL_SESSION)
        self.share = share
        kept = storage?.lines(in: file) ?? []
        add(kept)
    }

    private func admit(host: String) {
        let wanted = offered.filter { $0.matches(host: host) }
        guard !wanted.isEmpty else { return }
        offered.removeAll { $0.matches(host: host) }
        add(wanted.map(\.line))
        recordChange()
    }

    private func add(_ lines: [String]) {
        // Only lines that parse: libcurl gives some words a meaning of their own.
        let cookies = lines.compactMap { StoredCookie($0.utf8) }
        guard !cookies.isEmpty else { return }
        edit { handle in
            for cookie in cookies {
                _ = weir_easy_set_text(handle, CURLOPT_COOKIELIST, cookie.line)
            }
        }
    }

    @discardableResult private func edit<Value>(_ body: (UnsafeMutableRawPointer) -> Value) -> Value? {
        guard let share, let handle = curl_easy_init() else { return nil }
        defer { curl_easy_cleanup(handle) }
        _ = weir_easy_set_pointer(handle, CURLOPT_SHARE, share)
        return body(handle)
    }
}
