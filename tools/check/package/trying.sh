# For scripts that try a package: sourced at the root of the checkout, in mounts of their own, as root.

# begin_work: makes $work, a folder in memory: unpacking a system syncs each file.
begin_work() {
    work=$(mktemp -d)
    mount -t tmpfs -o mode=755 tmpfs "$work"
}
end_work() {
    # A process that has just been ended may still be in it.
    umount --recursive --lazy "$work"
    rmdir "$work"
}

children=()
end_children() {
    for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
    for child in "${children[@]}"; do wait "$child" 2>/dev/null || true; done
}

# begin NAME PROGRAM…: starts a child, and leaves the address of its line "… is listening on URL" in $address.
begin() {
    local name=$1 count=0 line
    shift
    : >"$work/$name"
    "$@" >"$work/$name" 2>"$work/$name.errors" &
    children+=($!)
    while ! line=$(grep -m1 "is listening on" "$work/$name"); do
        count=$((count + 1))
        kill -0 "${children[-1]}" 2>/dev/null && [ $count -lt 600 ] || {
            echo "${0##*/}: $name does not start: $(cat "$work/$name" "$work/$name.errors")" >&2
            exit 1
        }
        sleep 0.05
    done
    address=${line##* }
}

# clean_debian SUITE FOLDER [NAME…]: a Debian that has nothing but what is named.
clean_debian() {
    local included=
    [ $# -le 2 ] || included=--include=$(printf '%s\n' "${@:3}" | paste -sd ,)
    debootstrap --variant=minbase $included "$1" "$2" >"$work/debootstrap" 2>&1 || {
        tail -5 "$work/debootstrap" >&2
        exit 1
    }
    # An installer writes this; debootstrap does not.
    printf '127.0.0.1 localhost\n::1 localhost\n' >"$2/etc/hosts"
}

# install_package PACKAGE FOLDER: as a user does, with apt, which finds the libraries; nothing that is only recommended.
install_package() {
    local chroot=(env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$2")
    cp "$1" "$2/weir.deb"
    cp /etc/resolv.conf "$2/etc/resolv.conf"
    "${chroot[@]}" apt-get -qq update >"$work/apt" 2>&1 &&
        "${chroot[@]}" apt-get -qq install --no-install-recommends /weir.deb >>"$work/apt" 2>&1 || {
        tail -5 "$work/apt" >&2
        exit 1
    }
}

# hashes URL [PROGRAM…]: of each frame, as ffmpeg decodes it; the program is run with ffmpeg and its arguments.
hashes() { "${@:2}" ffmpeg -nostdin -v error -i "$1" -map 0 -f framemd5 -; }
