-- Makes mpv play HLS through Weir. If Weir does not run, mpv plays as it would without this script.
--
-- Copy it to ~/.config/mpv/scripts/. Then
--     mpv https://example.com/vod/master.m3u8
-- plays through http://localhost:8216/, and Ctrl+d downloads what is playing. For another key, in input.conf:
--     F5 script-binding weir/download
-- Options, in ~/.config/mpv/script-opts/weir.conf or by --script-opts=weir-all=yes:
local options = {
    -- true: every http and https URL goes through Weir. false: only those with .m3u8 in the path.
    all = false,
    -- Weir's address, such as 127.0.0.1:8216. Empty: the address that the daemon wrote into its state folder.
    address = "",
    -- The daemon's state folder. Empty: the folder that weir itself looks in.
    state = "",
    -- The program, found in PATH.
    program = "weir",
    -- Further options of "weir add" for downloads: -q 720p --audio en
    download = "",
    -- Seconds to wait for Weir's answer. After that, mpv plays the original URL.
    patience = 0.2,
    -- true: mpv reports to Weir, for "weir log", what only mpv knows: stalls, dropped frames, start-up time and playhead.
    report = true,
}
require("mp.options").read_options(options, "weir")
local utils = require("mp.utils")

-- True if mpv was given header fields, cookies or a proxy for the server, or a user name in the URL. These would not reach the
-- server through Weir, and its answer could differ.
local function is_told_more(url)
    if url:match("^%a+://[^/?#]*@") then return true end
    for _, name in ipairs({"http-header-fields", "referrer", "user-agent", "http-proxy", "cookies"}) do
        local value, default = mp.get_property_native("options/" .. name),
            mp.get_property_native("option-info/" .. name .. "/default-value")
        if utils.to_string(value) ~= utils.to_string(default) then return true end
    end
    return false
end

local function is_meant(url)
    if not url:match("^[hH][tT][tT][pP][sS]?://[^/?#]") then return false end
    return options.all or url:match("^%a+://[^/?#]+([^?#]*)"):lower():find(".m3u8", 1, true) ~= nil
end

-- Builds a weir command line, with the options that select the daemon.
local function weir(command, arguments, source)
    local words = {options.program, command}
    local function add(...) for _, word in ipairs({...}) do table.insert(words, word) end end
    add((table.unpack or unpack)(arguments))
    if options.address ~= "" then add("--listen", options.address) end
    if options.state ~= "" then add("--state", mp.command_native({"expand-path", options.state})) end
    add("--", source)
    return words
end

local function run(words, done)
    return mp.command_native_async({
        name = "subprocess", args = words, playback_only = false, capture_stdout = true, capture_stderr = true,
    }, function(_, result) done(result or {}) end)
end

-- Weir's base URL, such as http://localhost:8216. Known after its first answer.
local base

-- Returns the name or the origin's URL inside one of Weir's own URLs; nil if the URL is not Weir's.
local function behind(url)
    local port = base and base:match(":(%d+)$")
    if not port then return nil end
    for _, host in ipairs({"localhost", "127.0.0.1", "[::1]"}) do
        local own = "http://" .. host .. ":" .. port .. "/"
        if url:sub(1, #own):lower() == own then
            local rest = url:sub(#own + 1)
            for _, manner in ipairs({"offline/", "local/", "auto/"}) do
                if rest:sub(1, #manner) == manner then rest = rest:sub(#manner + 1) break end
            end
            return rest:match("^%a+://") and rest or rest:match("^([^/?#]+)%.m3u8") or ""
        end
    end
    return nil
end

-- The current playback through Weir, for reports; nil without one.
local playback
local playbacks = 0

-- Starts a playback. Each of its requests has a session name (CMCD, CTA-5004), by which Weir assigns its reports.
local function begin()
    if not options.report then return end
    playbacks = playbacks + 1
    playback = {
        name = ("mpv-%s-%d-%d"):format(mp.get_property("pid", "0"), os.time(), playbacks), began = mp.get_time(),
        stalls = 0, stall_time = 0, playhead = 0, failures = 0,
    }
    local fields = mp.get_property_native("http-header-fields") or {}
    table.insert(fields, ('CMCD-Session: sid="%s"'):format(playback.name))
    mp.set_property_native("file-local-options/http-header-fields", fields)
end

-- Priority 5: before ytdl_hook, which has 10.
mp.add_hook("on_load", 5, function(hook)
    local url = mp.get_property("stream-open-filename", "")
    playback = nil
    if behind(url) then return begin() end
    if not is_meant(url) or is_told_more(url) then return end
    hook:defer()
    local is_over, process, timer = false, nil, nil
    local function go_on(answer)
        if is_over then return end
        is_over = true
        if timer then timer:kill() end
        local through = answer and answer:match("^(http://[^\n]+)\n$")
        if through and through:sub(-#url) == url then
            base = through:sub(1, -#url - 2)
            if not behind(url) then
                mp.msg.info("through Weir: " .. through)
                mp.set_property("stream-open-filename", through)
            end
            begin()
        end
        hook:cont()
    end
    timer = mp.add_timeout(options.patience, function()
        mp.msg.info("Weir does not answer in time")
        if process then mp.abort_async_command(process) end
        go_on(nil)
    end)
    process = run(weir("url", {"--check"}, url), function(result)
        if not is_over and result.status ~= 0 then
            mp.msg.verbose("not through Weir: " .. (result.stderr or result.error_string or ""))
        end
        go_on(result.status == 0 and result.stdout or nil)
    end)
end)

-- Builds the command line of a report.
local function report(it, rate)
    it.playhead = math.max(0, mp.get_property_number("time-pos") or it.playhead)
    it.dropped = mp.get_property_number("frame-drop-count", 0) + mp.get_property_number("decoder-frame-drop-count", 0)
    local stalled = it.stalled and mp.get_time() - it.stalled or 0
    local words = {
        "--playhead", ("%.3f"):format(it.playhead), "--rate", ("%.3f"):format(math.min(16, rate)),
        "--stalls", tostring(it.stalls), "--stall-time", ("%.3f"):format(it.stall_time + stalled),
        "--frames-dropped", ("%d"):format(it.dropped), "--startup", ("%.3f"):format(it.startup),
    }
    if it.stalled and rate == 0 then table.insert(words, "--stalled") end
    return weir("report", words, it.name)
end

-- Reports changes after half a second, so that simultaneous changes are one report. Reports do not overlap.
local function changed()
    local it = playback
    if not it or not it.startup or it.timer or it.failures > 2 then return end
    it.timer = mp.add_timeout(0.5, function()
        if it ~= playback then return end
        local rate = mp.get_property_bool("core-idle") and 0 or mp.get_property_number("speed", 1)
        run(report(it, rate), function(result)
            it.timer = nil
            it.failures = result.status == 0 and 0 or it.failures + 1
            if it.is_due then
                it.is_due = false
                changed()
            end
        end)
    end)
end

local function note_change()
    if playback and playback.timer then playback.is_due = true end
    changed()
end

mp.register_event("playback-restart", function()
    if playback then playback.startup = playback.startup or mp.get_time() - playback.began end
    note_change()
end)

mp.observe_property("paused-for-cache", "bool", function(_, waits)
    local it = playback
    if not it or not it.startup then return end
    if waits and not it.stalled and not mp.get_property_bool("seeking") then
        it.stalls, it.stalled = it.stalls + 1, mp.get_time()
    elseif not waits and it.stalled then
        it.stall_time, it.stalled = it.stall_time + mp.get_time() - it.stalled, nil
    end
    note_change()
end)

mp.observe_property("pause", "bool", note_change)
mp.observe_property("speed", "number", note_change)
mp.add_periodic_timer(5, function()
    local dropped = mp.get_property_number("frame-drop-count", 0) + mp.get_property_number("decoder-frame-drop-count", 0)
    if playback and playback.startup and dropped ~= playback.dropped then note_change() end
end)

-- The final report. The process is detached, because mpv may end before it.
mp.add_hook("on_unload", 50, function()
    local it = playback
    playback = nil
    if not it or not it.startup or it.failures > 2 then return end
    if it.timer then it.timer:kill() end
    mp.command_native({name = "subprocess", args = report(it, 0), playback_only = false, detach = true})
end)

local function tell(text)
    mp.msg.info(text)
    mp.osd_message("Weir: " .. text, 5)
end

mp.add_key_binding("Ctrl+d", "download", function()
    local opened = mp.get_property("stream-open-filename", "")
    local source = behind(opened) or opened
    if source == "" or not (behind(opened) or opened:match("^[hH][tT][tT][pP][sS]?://")) then
        return tell("this is not a stream that can be downloaded")
    end
    local arguments = {"--json"}
    for word in options.download:gmatch("%S+") do table.insert(arguments, word) end
    tell("…")
    run(weir("add", arguments, source), function(result)
        local download = result.status == 0 and utils.parse_json(result.stdout or "")
        if download then
            return tell(download.state == "complete" and download.asset .. " is stored"
                or "downloading " .. download.asset)
        end
        local reason = (result.stderr or ""):match("weir: ([^\n]+)")
        if not reason and result.error_string and result.error_string ~= "" then
            reason = options.program .. " cannot be run"
        end
        tell(reason or "the download did not start")
    end)
end)
