-- Lets mpv play HLS through Weir, where Weir runs, and otherwise as if this script were not there.
--
-- Copy it to ~/.config/mpv/scripts/. Then
--     mpv https://example.com/vod/master.m3u8
-- plays through http://localhost:8216/, and Ctrl+d downloads what is playing. For another key, in input.conf:
--     F5 script-binding weir/download
-- Options, in ~/.config/mpv/script-opts/weir.conf or by --script-opts=weir-all=yes:
local options = {
    -- Whether every http and https URL goes through Weir, rather than those with .m3u8 in the path alone.
    all = false,
    -- Where Weir listens, such as 127.0.0.1:8216; where the daemon has noted it in its state folder when empty.
    address = "",
    -- The daemon's state folder; where weir itself looks for it when empty.
    state = "",
    -- The program; found in PATH.
    program = "weir",
    -- What downloads are given besides, as options of weir add: -q 720p --audio en
    download = "",
    -- So many seconds Weir has for its answer; then mpv goes where it was told to.
    patience = 0.2,
}
require("mp.options").read_options(options, "weir")
local utils = require("mp.utils")

-- What a web address leads to is a matter of the server's and of what it is told: what was given to mpv for that
-- server alone does not reach it through Weir.
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

-- A command of weir's, with the options that say which Weir is meant.
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

-- Where Weir answers, as http://localhost:8216; learnt with the first answer.
local base

-- What is behind Weir's own URL: a name, or another URL; nil for what is not Weir's.
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

-- Before ytdl_hook, which has 10.
mp.add_hook("on_load", 5, function(hook)
    local url = mp.get_property("stream-open-filename", "")
    if not is_meant(url) or behind(url) or is_told_more(url) then return end
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

local function tell(text)
    mp.msg.info(text)
    mp.osd_message("Weir: " .. text, 5)
end

mp.add_key_binding("Ctrl+d", "download", function()
    local opened = mp.get_property("stream-open-filename", "")
    local source = behind(opened) or opened
    if source == "" or not (behind(opened) or opened:match("^[hH][tT][tT][pP][sS]?://")) then
        return tell("this is no stream that could be downloaded")
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
        tell(reason or "the download could not be begun")
    end)
end)
