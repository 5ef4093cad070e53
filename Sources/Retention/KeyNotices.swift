import Orders
import Store

/// Decides when keys are announced to expire, and when they are renewed. Pure; times are in seconds since 1970.
struct KeyNotices {
    /// A key of an asset.
    struct Key: Hashable {
        let asset: String
        let number: Int
    }

    /// The announcements of an expiry, by the seconds before it.
    enum Notice: Int64 {
        case day = 86_400
        case hour = 3600
    }

    private var sent: [Key: (expiration: Int64, notice: Notice)] = [:]
    /// Times of the last attempts to renew keys.
    private var tried: [Key: Int64] = [:]

    /// The announcement that is due for a valid key; nil if none is, or it was returned before for this date.
    mutating func notice(of key: Key, expiring expiration: Int64, at now: Int64) -> Notice? {
        let left = expiration.subtractingReportingOverflow(now)
        guard !left.overflow, left.partialValue > 0, left.partialValue <= Notice.day.rawValue else { return nil }
        let notice: Notice = left.partialValue <= Notice.hour.rawValue ? .hour : .day
        if let last = sent[key], last.expiration == expiration, last.notice.rawValue <= notice.rawValue {
            return nil
        }
        sent[key] = (expiration, notice)
        return notice
    }

    /// True if a key is to be renewed now: a day before its date or the end of its lifetime, or half of its time if that is
    /// less. Not for the end of the window that its first play opens: a renewal would open another one.
    mutating func isRenewalDue(of key: Key, _ life: KeyLife, by terms: KeyTerms, at now: Int64) -> Bool {
        guard life.state(by: terms, at: now) == .valid, let expiration = life.expiration(by: terms),
            let left = life.remaining(by: terms, at: now).storage, left == expiration - now
        else { return false }
        let start = [life.came, life.dated].compactMap(\.self).max() ?? now
        let margin = min(Notice.day.rawValue, max(0, expiration - start) / 2)
        guard left <= margin else { return false }
        // A refusal is not final: the network or the right may come back.
        let pause = max(60, margin / 12)
        if let last = tried[key], now >= last, now - last < pause {
            return false
        }
        tried[key] = now
        return true
    }

    /// Drops the keys of assets that are gone.
    mutating func keep(_ assets: Set<String>) {
        sent = sent.filter { assets.contains($0.key.asset) }
        tried = tried.filter { assets.contains($0.key.asset) }
    }
}
