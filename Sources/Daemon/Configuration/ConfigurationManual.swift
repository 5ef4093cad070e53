internal import FoundationEssentials

/// The texts that are generated from the table of keys: `conf/weir.toml`, and the guide's table.
package enum ConfigurationManual {
    /// The text of `conf/weir.toml`: every key with its default and a comment.
    package static var file: String {
        let sections = [head] + Configuration.Key.allCases.map(section) + [tail]
        return sections.joined(separator: "\n\n") + "\n"
    }

    /// The file with every setting commented out: a new default of a later version then takes effect.
    static var template: String {
        let lines = file.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard !line.isEmpty, !line.hasPrefix("#") else { return String(line) }
            return "# \(line)"
        }
        return lines.joined(separator: "\n")
    }

    /// The guide's table of keys, by section.
    package static var table: String {
        let rows = Configuration.Section.allCases.flatMap { section in
            Configuration.Key.allCases.filter { $0.entry.section == section }.map { key in
                "| \(section.rawValue) | `\(key.rawValue)` | `\(standard(key))` | `--\(key.optionName)` | \(key.option.help) |"
            }
        }
        return tableHead + rows.joined(separator: "\n") + "\n"
    }

    package static let tableHead =
        "| subject | key | default | option | meaning of the option |\n|---|---|---|---|---|\n"

    private static func section(_ key: Configuration.Key) -> String {
        let comment = wrapped(key.entry.manual).map { "# \($0)\n" }.joined()
        return comment + "\(key.rawValue) = \(standard(key))"
    }

    /// The default of a key, with `~` for the home folder.
    private static func standard(_ key: Configuration.Key) -> String {
        let home = "/home/user"
        return Configuration(environment: ["HOME": home]).text(of: key).replacing("\(home)/", with: "~/")
    }

    /// Breaks a text into lines of at most 118 characters.
    private static func wrapped(_ text: String) -> [String] {
        var lines: [String] = []
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            if let line = lines.last, line.count + word.count < 118 {
                lines[lines.count - 1] = "\(line) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    private static let head = """
        # The configuration of Weir: every key, with its default.
        #
        # Weir reads $XDG_CONFIG_HOME/weir/weir.toml (~/.config/weir/weir.toml), or the file that --config or
        # WEIR_CONFIG names. Each key is also an option of `weir serve` and an environment variable: max-parallel,
        # --max-parallel, WEIR_MAX_PARALLEL. An option overrides the environment, and the environment overrides this
        # file. An unknown key is an error. The table [selection] at the end is in this file alone.
        """

    /// The tables, which are in the file alone.
    private static let tail = """
        # What is selected of a presentation where a command or a request says nothing else. The keys are also the options of "weir get",
        # "weir add" and "weir show", which go first.
        [selection]

        # The variant: "best", "worst", "720p", "<=1080p", or "2M" or "265000" for the lowest with at least so many bits per second. Empty:
        # the best, or the lowest that meets min-bitrate and min-size, or by fast. An option for one of these four replaces all four.
        quality = ""

        # Conditions that the variant must meet, such as ["height<=1080", "range=SDR", "codec!=hvc1"]: peak, average, width, height, fps,
        # channels, range or codec, with <=, >=, <, >, = or !=.
        where = []

        # Sound: "default" (as a player would choose for you), "all", "none", or languages such as ["en", "ja"].
        audio = "default"

        # Subtitles: "auto" (those that players show unasked), "default", "all", "none", or languages.
        subs = "auto"

        # The lowest variant of at least this bit rate ("2M", "800k"), else the highest.
        min-bitrate = ""

        # The lowest variant of at least this size ("1280x720", "720p"), else the highest.
        min-size = ""

        # Prefer HDR to SDR.
        prefer-hdr = false

        # Prefer more than stereo; stereo is stored as well.
        prefer-multichannel = false

        # Preferred codecs, best first, such as ["avc1", "hvc1"].
        codecs = []

        # Preferred languages of sound and forced subtitles, best first, such as ["ja", "en"]; then the locale's.
        languages = []

        # Prefer the fastest download that meets the other keys to the best quality.
        fast = false

        # Store the interstitials that the playlists name as well, such as advertisements, in the quality of the film. They play offline where
        # the film names them. One that cannot be stored is told, and does not keep the download from being complete.
        interstitials = false

        # Store a playlist of I-frames as well, if the stream has one: players show pictures from it while they seek.
        trick-play = false

        # Handlers answer URLs instead of an origin: "weir get myscheme://film" then asks the program below. A program gets "--" and the
        # URL as its last two arguments, without a shell, and 30 s. It writes the resource itself, or JSON:
        # {"url": "https://…", "headers": {"Referer": "…"}, "title": "…", "expires": 1800000000}, {"content": "base64…", "expires": …} or
        # {"error": "…"}. "expires" is in seconds since 1970, or a date such as "2026-11-25T20:00:00Z": a key expires then, and a URL is
        # asked for again; without it, when the origin refuses the URL. Other users of this machine run no handler.
        # A server is asked with the query field "url". At most two run at a time. The name is a scheme, or a pattern of the URLs that you
        # give yourself. A handler for a scheme answers URLs that playlists name, such as those of keys, only with from-playlists.
        #
        # [handlers]
        # myscheme = ["/usr/local/bin/find-film"]
        # "https://video.example/watch*" = ["/usr/share/weir/handlers/yt-dlp"]
        # local = { command = ["/usr/share/weir/handlers/folder", "/srv/films"], from-playlists = true }
        # skd = { server = "http://127.0.0.1:9000/key", from-playlists = true }
        """
}
