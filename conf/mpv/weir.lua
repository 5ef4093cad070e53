-- Makes mpv play HLS through Weir. If Weir does not run, mpv plays as it would without this script.
--
-- Copy it to ~/.config/mpv/scripts/. Then
--     mpv https://example.com/vod/master.m3u8
-- plays through http://localhost:8216/ under its title in Weir and with its subtitles, and Ctrl+d downloads what is playing, with
-- mpv's title. Ctrl+l shows a menu of the stored films. "mpv weir://NAME" plays an asset, "mpv weir://" all of them in a row. Pages that ytdl_hook knows do so too, if they lead
-- to HLS. Weir gets the header fields, cookies and proxy that mpv has for the URL. For another key, in input.conf:
--     F5 script-binding weir/download
--     F6 script-binding weir/menu
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
    -- As patience, where Weir must get header fields, cookies or a proxy first: it loads the playlist with them.
    patience_with_fields = 15,
    -- true: mpv reports to Weir, for "weir log", what only mpv knows: stalls, dropped frames, start-up time and playhead.
    report = true,
    -- true: a film goes on where it was left, unless mpv itself was told where to begin.
    resume = true,
}
require("mp.options").read_options(options, "weir")
local utils = require("mp.utils")

-- The value of an option; nil if it is the default.
local function set_option(name)
    local value, default = mp.get_property_native(name), mp.get_property_native("option-info/" .. name .. "/default-value")
    if value == nil or value == "" or utils.to_string(value) == utils.to_string(default) then return nil end
    return value
end

-- Returns a URL without its user and password.
local function without_password(url) return (url:gsub("^(%a+://)[^/?#]*@", "%1")) end

-- The cookies for a URL's host that ytdl_hook has set for libavformat, as the value of a Cookie field; nil for none.
local function cookies_of_ytdl(url)
    local host = without_password(url):match("^%a+://([^/?#:]+)") or ""
    local lines, pairs_ = (mp.get_property_native("stream-lavf-o") or {}).cookies, {}
    for line in (lines or ""):gmatch("[^\r\n]+") do
        local domain = (line:match("[Dd]omain=([^;]+)") or host):gsub("^%.", "")
        if host == domain or host:sub(-#domain - 1) == "." .. domain then table.insert(pairs_, line:match("^[^;]+")) end
    end
    return pairs_[1] and table.concat(pairs_, "; ")
end

-- Base64 (RFC 4648).
local function base64(text)
    local digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return (text:gsub("..?.?", function(bytes)
        local a, b, c = bytes:byte(1, 3)
        local number, word = a * 65536 + (b or 0) * 256 + (c or 0), ""
        for place = 3, 0, -1 do
            local digit = math.floor(number / 64 ^ place) % 64 + 1
            word = word .. (3 - place <= #bytes and digits:sub(digit, digit) or "=")
        end
        return word
    end))
end

-- Header fields that mpv has for the server of a URL. They are secret.
local function fields_for(url)
    local fields = {}
    for _, field in ipairs(set_option("http-header-fields") or {}) do
        if not field:match("^CMCD%-") then table.insert(fields, field) end
    end
    local function add(name, value)
        if value then table.insert(fields, name .. ": " .. value) end
    end
    add("Referer", set_option("referrer"))
    add("User-Agent", set_option("user-agent"))
    add("Cookie", cookies_of_ytdl(url))
    local user = url:match("^%a+://([^/?#]*)@")
    local decoded = user and user:gsub("%%(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end)
    add("Authorization", decoded and "Basic " .. base64(decoded))
    return fields
end

-- Writes a text to a file that only this user can read; returns its path, or nil and the reason.
local function secret_file(text)
    -- The file exists already, with mode 0600, where Lua uses mkstemp(3).
    local path = os.tmpname()
    local known = utils.file_info(path)
    if not known or known.mode % 64 ~= 0 then return nil, "no private file can be made" end
    local file, reason = io.open(path, "w")
    if not file then return nil, reason end
    file:write(text, "\n")
    file:close()
    return path
end

-- Files that a running weir reads.
local secrets = {}
mp.register_event("shutdown", function() for path in pairs(secrets) do os.remove(path) end end)

-- Returns options that hand over what mpv was given for the server of a URL, and a function that deletes their files. Secrets are
-- in files: mpv logs command lines, input and environment of programs, and other users can see command lines. Nil if that fails.
local function given(url)
    local words, paths = {}, {}
    local function clean()
        for _, path in ipairs(paths) do
            os.remove(path)
            secrets[path] = nil
        end
    end
    local function add(...) for _, word in ipairs({...}) do table.insert(words, word) end end
    local function add_secret(option, text)
        local path, reason = secret_file(text)
        if not path then return mp.msg.warn("not through Weir: " .. reason) end
        secrets[path] = true
        table.insert(paths, path)
        add(option, "@" .. path)
        return true
    end
    local cookies = mp.get_property_bool("cookies") and set_option("cookies-file")
    if cookies then add("--cookies", mp.command_native({"expand-path", cookies})) end
    local fields, proxy = fields_for(url), set_option("http-proxy")
    local is_whole = not fields[1] or add_secret("--header", table.concat(fields, "\n"))
    if is_whole and proxy then is_whole = add_secret("--proxy", proxy) end
    if is_whole then return words, clean end
    clean()
    return nil
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
            rest = rest:gsub("^select/[^/]*/", "")
            for _, manner in ipairs({"offline/", "local/", "auto/"}) do
                if rest:sub(1, #manner) == manner then rest = rest:sub(#manner + 1) break end
            end
            if rest:match("^%a+://") then return rest end
            local name = rest:match("^([^/?#]+)%.m3u8") or ""
            return (name:gsub("%%(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end))
        end
    end
    return nil
end

-- The current playback through Weir, for reports; nil without one.
local playback
local playbacks = 0

-- Starts a playback. Each of its requests has a session name (CMCD, CTA-5004), by which Weir assigns its reports. A command that
-- appends it logs no other field, as setting them all would.
local function begin()
    if not options.report then return end
    playbacks = playbacks + 1
    playback = {
        name = ("mpv-%s-%d-%d"):format(mp.get_property("pid", "0"), os.time(), playbacks), began = mp.get_time(),
        stalls = 0, stall_time = 0, playhead = 0, failures = 0,
    }
    local field = ('CMCD-Session: sid="%s"'):format(playback.name)
    mp.command_native({"change-list", "file-local-options/http-header-fields", "append", field})
end

-- Asks Weir for its URL of a URL without password. Calls back with it; with nil if Weir refuses, or does not answer in time.
local function ask(words, plain, done)
    local is_over, process, timer = false, nil, nil
    local function finish(answer)
        if is_over then return end
        is_over = true
        if timer then timer:kill() end
        local through = answer and answer:match("^(http://[^\n]+)\n$")
        local found = through and through:match("^http://[^/]+")
        -- A stream that is stored in its best quality plays by its name.
        if through and through:sub(-#plain) ~= plain and not through:match("^http://[^/]+/[^/]+%.m3u8$") then through = nil end
        if through then base = found end
        done(through)
    end
    timer = mp.add_timeout(words[2] and options.patience_with_fields or options.patience, function()
        mp.msg.info("Weir does not answer in time")
        if process then mp.abort_async_command(process) end
        finish(nil)
    end)
    process = run(weir("url", words, plain), function(result)
        if not is_over and result.status ~= 0 then
            mp.msg.verbose("not through Weir: " .. (result.stderr or result.error_string or ""))
        end
        finish(result.status == 0 and result.stdout or nil)
    end)
end

-- Loads a URL through Weir, with what mpv was given for its server, if Weir answers in time.
local function go_through(url, words, hook)
    local plain = without_password(url)
    local function go_on(through)
        if through and not behind(url) then
            mp.msg.info("through Weir: " .. through)
            mp.set_property("stream-open-filename", through)
            -- The proxy is for the server, and not for Weir.
            if mp.get_property("http-proxy", "") ~= "" then mp.set_property("file-local-options/http-proxy", "") end
        end
        if through then begin() end
        hook:cont()
    end
    local function hand_over()
        local more, clean = given(url)
        if not more then return go_on(nil) end
        for _, word in ipairs(more) do table.insert(words, word) end
        ask(words, plain, function(through)
            clean()
            go_on(through)
        end)
    end
    hook:defer()
    local host = plain:match("^[hH][tT][tT][pP]://(%[?[^/?#%]]+%]?)")
    local name = host and host:gsub(":%d+$", "")
    if base or not (name == "localhost" or name == "127.0.0.1" or name == "[::1]") then return hand_over() end
    -- It may be Weir's own URL, for which there is nothing to hand over.
    ask({"--check"}, plain, function(through)
        if through and not behind(url) then return hand_over() end
        go_on(through)
    end)
end

-- weir://NAME plays an asset, weir://URL a stream, and weir:// all assets in a row.
local function open_own(source, hook)
    source = source:gsub("/+$", "")
    hook:defer()
    run(weir("url", {}, source == "" and "http://all.invalid" or source), function(result)
        local through = result.status == 0 and (result.stdout or ""):match("^(http://[^\n]+)\n$")
        if through then
            base = through:match("^http://[^/]+")
            mp.set_property("stream-open-filename", source == "" and base .. "/weir.m3u" or through)
            if source ~= "" then begin() end
        else
            mp.msg.error((result.stderr or ""):match("weir: ([^\n]+)") or options.program .. " cannot be run")
        end
        hook:cont()
    end)
end

-- The URL that the first hook has handled.
local handled

-- Priority 5: before ytdl_hook, which has 10.
mp.add_hook("on_load", 5, function(hook)
    local url = mp.get_property("stream-open-filename", "")
    playback, handled = nil, url
    local own = url:match("^weir://(.*)$")
    if own then return open_own(own, hook) end
    if behind(url) then return begin() end
    if is_meant(url) then go_through(url, {"--check"}, hook) end
end)

-- Returns the URLs of a video and an audio playlist in an edl:// of ytdl_hook; nil for any other.
local function playlists_of_edl(url)
    if not url:match("^edl://") or not url:find("!new_stream", 1, true) then return nil end
    local urls, kinds, place = {}, {}, 1
    while true do
        local from, to, count = url:find("%%(%d+)%%", place)
        if not from then break end
        local text = url:sub(to + 1, to + tonumber(count))
        -- A text behind = is a title or another tag of the page.
        if url:sub(from - 1, from - 1) ~= "=" then
            if not is_meant(text) then return nil end
            table.insert(urls, text)
            table.insert(kinds, url:sub(place, from):match("media_type=(%l+)") or "")
        end
        place = to + 1 + tonumber(count)
    end
    if #urls ~= 2 then return nil end
    -- ytdl_hook reverses the list of yt-dlp, which has the sound last. Weir looks at the media if this is wrong.
    if kinds[1] == "video" and kinds[2] ~= "video" then return urls[1], urls[2] end
    return urls[2], urls[1]
end

-- Behind ytdl_hook, whose results are other URLs. A video playlist and an audio playlist become one master.
local function open_result(hook)
    local url = mp.get_property("stream-open-filename", "")
    if url == handled or behind(url) then return end
    if is_meant(url) then return go_through(url, {"--check"}, hook) end
    local video, audio = playlists_of_edl(url)
    if video then go_through(video, {"--check", "--with-audio", without_password(audio)}, hook) end
end

mp.add_hook("on_load", 15, open_result)
-- By default ytdl_hook gets a URL only once mpv itself has failed to open it (try_ytdl_first=no).
mp.add_hook("on_load_fail", 15, open_result)

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

-- The final report. The process is detached, because mpv may end before it; then the terminal is another command's, and no word of
-- it belongs there.
mp.add_hook("on_unload", 50, function()
    local it = playback
    playback = nil
    if not it or not it.startup or it.failures > 2 then return end
    if it.timer then it.timer:kill() end
    local words = {"sh", "-c", 'exec "$0" "$@" >/dev/null 2>&1'}
    for _, word in ipairs(report(it, 0)) do table.insert(words, word) end
    mp.command_native({name = "subprocess", args = words, playback_only = false, detach = true})
end)

-- The asset's name, if it is shown for want of a title.
local shown_name

-- Shows the title that Weir knows, unless mpv was given one; without any, the asset's name rather than "master.m3u8".
local function show_title(title, name)
    shown_name = nil
    if mp.get_property("force-media-title", "") ~= "" then return end
    if not title and mp.get_property("media-title") == mp.get_property("filename") then shown_name = name end
    local text = title or shown_name
    if text then mp.set_property("file-local-options/force-media-title", text) end
end

-- Adds the subtitles of an asset as one file each: libavformat reads no WebVTT renditions. The first one in a language of the
-- option slang is shown.
local function add_subtitles(name, tracks)
    local wishes, is_shown = mp.get_property_native("slang") or {}, false
    for _, track in ipairs(tracks or {}) do
        local language = track.language or ""
        local is_wished = false
        for _, wish in ipairs(wishes) do
            if not is_shown and wish ~= "" and language:sub(1, #wish):lower() == wish:lower() then is_wished = true end
        end
        if track.id then
            local url = ("%s/%s.%s.vtt"):format(base, name, track.id)
            mp.command_native_async({"sub-add", url, is_wished and "select" or "auto", track.name or language, language}, function() end)
            is_shown = is_shown or is_wished
        end
    end
end

-- Goes on where a film was left. Not in fragmented MP4: libavformat loses its place there after a seek, and mpv ends.
local function go_on(position, is_fragmented)
    local is_told = set_option("start") or (mp.get_property_number("time-pos") or 0) > 5
    if not options.resume or not position or is_told or is_fragmented then return end
    mp.commandv("seek", ("%.3f"):format(position), "absolute")
    mp.osd_message(("goes on at %d:%02d"):format(math.floor(position / 60), math.floor(position % 60)), 3)
end

mp.register_event("file-loaded", function()
    local opened = mp.get_property("stream-open-filename", "")
    local source = behind(opened)
    if not source or source == "" or source:find("\n", 1, true) then return end
    run(weir("show", {"--json"}, source), function(result)
        local shown = result.status == 0 and utils.parse_json(result.stdout or "")
        if not shown or mp.get_property("stream-open-filename", "") ~= opened then return end
        show_title(shown.title, shown.name)
        if not shown.isLive then go_on(shown.position, shown.isFragmented) end
        if shown.name and not shown.isLive then add_subtitles(shown.name, shown.tracks and shown.tracks.subtitles) end
    end)
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
    local more, clean = {}, nil
    if source == opened then
        more, clean = given(source)
        if not more then return tell("mpv's header fields cannot be handed to Weir") end
    end
    for _, word in ipairs(more) do table.insert(arguments, word) end
    local title = mp.get_property("force-media-title", "")
    if title ~= "" and title ~= shown_name then
        table.insert(arguments, "--title")
        table.insert(arguments, title)
    end
    run(weir("add", arguments, without_password(source)), function(result)
        if clean then clean() end
        local download = result.status == 0 and utils.parse_json(result.stdout or "")
        if download then
            return tell(download.state == "complete" and download.asset .. " is saved"
                or "downloading " .. download.asset)
        end
        local reason = (result.stderr or ""):match("weir: ([^\n]+)")
        if not reason and result.error_string and result.error_string ~= "" then
            reason = options.program .. " cannot be run"
        end
        tell(reason or "the download did not start")
    end)
end)

-- A menu of the stored films.
local menu = {overlay = mp.create_osd_overlay("ass-events"), assets = {}, place = 1}

local function escaped(text) return (text:gsub("\\", "\\\226\128\139"):gsub("{", "\\{"):gsub("\n", " ")) end

local function draw_menu()
    local lines, most = {"{\\an7\\fs24}Weir"}, 12
    local first = math.max(1, math.min(menu.place - most / 2, #menu.assets - most + 1))
    for place = first, math.min(#menu.assets, first + most - 1) do
        local asset = menu.assets[place]
        local time = asset.duration and ("  %d:%02d"):format(math.floor(asset.duration / 60), math.floor(asset.duration % 60)) or ""
        local mark = place == menu.place and "{\\b1}\226\150\182 " or "{\\b0}   "
        table.insert(lines, mark .. escaped(asset.title or asset.name) .. time)
    end
    menu.overlay.data = table.concat(lines, "\\N")
    menu.overlay:update()
end

local menu_keys = {}

local function close_menu()
    menu.overlay:remove()
    for _, name in ipairs(menu_keys) do mp.remove_key_binding(name) end
    menu_keys = {}
end

local function move_menu(step)
    return function()
        menu.place = (menu.place - 1 + step) % #menu.assets + 1
        draw_menu()
    end
end

local function open_menu()
    local function bind(key, done)
        local name = "menu-" .. key
        mp.add_forced_key_binding(key, name, done, {repeatable = true})
        table.insert(menu_keys, name)
    end
    bind("UP", move_menu(-1))
    bind("DOWN", move_menu(1))
    bind("ENTER", function()
        local asset = menu.assets[menu.place]
        close_menu()
        mp.commandv("loadfile", "weir://" .. asset.name)
    end)
    bind("ESC", close_menu)
    draw_menu()
end

mp.add_key_binding("Ctrl+l", "menu", function()
    if menu_keys[1] then return close_menu() end
    local words = weir("list", {"--json", "--offline"}, "")
    -- The list has no source.
    table.remove(words)
    table.remove(words)
    run(words, function(result)
        if result.status ~= 0 then
            return tell((result.stderr or ""):match("weir: ([^\n]+)") or options.program .. " cannot be run")
        end
        menu.assets = {}
        for line in (result.stdout or ""):gmatch("[^\n]+") do
            local asset = utils.parse_json(line)
            if asset then table.insert(menu.assets, asset) end
        end
        menu.place = 1
        if not menu.assets[1] then return tell("no film is stored completely") end
        open_menu()
    end)
end)
