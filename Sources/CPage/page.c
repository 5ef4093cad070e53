// The page, compiled in with #embed (C23), which takes no measurable time; SwiftPM's .embedInCode takes 43 s for 100
// kB.
#include "CPage.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char add_js[] = {
#embed "files/add.js"
};
static const unsigned char api_js[] = {
#embed "files/api.js"
};
static const unsigned char bars_js[] = {
#embed "files/bars.js"
};
static const unsigned char channels_js[] = {
#embed "files/channels.js"
};
static const unsigned char blocks_js[] = {
#embed "files/blocks.js"
};
static const unsigned char chooser_js[] = {
#embed "files/chooser.js"
};
static const unsigned char details_js[] = {
#embed "files/details.js"
};
static const unsigned char dom_js[] = {
#embed "files/dom.js"
};
static const unsigned char door_html[] = {
#embed "files/door.html"
};
static const unsigned char door_js[] = {
#embed "files/door.js"
};
static const unsigned char header_js[] = {
#embed "files/header.js"
};
static const unsigned char icon_svg[] = {
#embed "files/icon.svg"
};
static const unsigned char list_js[] = {
#embed "files/list.js"
};
static const unsigned char main_js[] = {
#embed "files/main.js"
};
static const unsigned char page_css[] = {
#embed "files/page.css"
};
static const unsigned char page_html[] = {
#embed "files/page.html"
};
static const unsigned char manage_js[] = {
#embed "files/manage.js"
};
static const unsigned char paste_js[] = {
#embed "files/paste.js"
};
static const unsigned char picture_js[] = {
#embed "files/picture.js"
};
static const unsigned char player_js[] = {
#embed "files/player.js"
};
static const unsigned char queue_js[] = {
#embed "files/queue.js"
};
static const unsigned char row_js[] = {
#embed "files/row.js"
};
static const unsigned char words_js[] = {
#embed "files/words.js"
};

static const struct page_file files[] = {
    {"/page/add.js", add_js, sizeof add_js},
    {"/page/api.js", api_js, sizeof api_js},
    {"/page/bars.js", bars_js, sizeof bars_js},
    {"/page/channels.js", channels_js, sizeof channels_js},
    {"/page/blocks.js", blocks_js, sizeof blocks_js},
    {"/page/chooser.js", chooser_js, sizeof chooser_js},
    {"/page/details.js", details_js, sizeof details_js},
    {"/page/dom.js", dom_js, sizeof dom_js},
    {"door.html", door_html, sizeof door_html},
    {"/page/door.js", door_js, sizeof door_js},
    {"/page/header.js", header_js, sizeof header_js},
    {"/page/icon.svg", icon_svg, sizeof icon_svg},
    {"/page/list.js", list_js, sizeof list_js},
    {"/page/main.js", main_js, sizeof main_js},
    {"/page/page.css", page_css, sizeof page_css},
    {"page.html", page_html, sizeof page_html},
    {"/page/manage.js", manage_js, sizeof manage_js},
    {"/page/paste.js", paste_js, sizeof paste_js},
    {"/page/picture.js", picture_js, sizeof picture_js},
    {"/page/player.js", player_js, sizeof player_js},
    {"/page/queue.js", queue_js, sizeof queue_js},
    {"/page/row.js", row_js, sizeof row_js},
    {"/page/words.js", words_js, sizeof words_js},
};

size_t page_file_count(void) { return sizeof files / sizeof files[0]; }

struct page_file page_file_at(size_t index) {
    struct page_file none = {0, 0, 0};
    return index < page_file_count() ? files[index] : none;
}
