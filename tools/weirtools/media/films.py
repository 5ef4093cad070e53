"""Films of test pictures for the tools: ffmpeg makes a media playlist with its segments."""

import subprocess


def encode(folder, seconds, *, segment, kilobits, size="160x90", frames=10, keys=None, buffer=None, filled=False, noise=0, tone=None,
           sound="32k", options=()):
    """media.m3u8 in a new folder, with segments of so many seconds that begin with key frames.

    `keys`: frames from one key frame to the next; else one for each segment. `kilobits`: the picture's rate, which is not exceeded over
    `buffer` kilobits; `filled`: what the picture does not need of it is filled up. `noise`: so much of it, which needs a rate. `tone`:
    the sound's frequency; without it there is none. `options`: more of ffmpeg's, such as another kind of segments.
    """
    folder.mkdir(parents=True)
    keys, rate = keys or segment * frames, "%dk" % kilobits
    picture = "testsrc2=size=%s:rate=%d:duration=%d" % (size, frames, seconds) + (",noise=alls=%d:allf=t" % noise if noise else "")
    words = ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", picture]
    if tone:
        words += ["-f", "lavfi", "-i", "sine=frequency=%d:sample_rate=48000:duration=%d" % (tone, seconds), "-c:a", "aac", "-b:a", sound]
    words += ["-c:v", "libx264", "-threads", "1", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-b:v", rate, "-maxrate", rate,
              "-bufsize", "%dk" % (buffer or kilobits)]
    if filled:
        words += ["-minrate", rate]
    words += ["-x264-params", ("nal-hrd=cbr:filler=1:" if filled else "") + "keyint=%d:min-keyint=%d:scenecut=0" % (keys, keys)]
    words += ["-f", "hls", "-hls_time", str(segment), "-hls_playlist_type", "vod", "-hls_list_size", "0"]
    if "-hls_segment_filename" not in options:
        words += ["-hls_segment_filename", "%d.ts"]
    subprocess.run([*words, *options, "media.m3u8"], cwd=folder, check=True)
