import subprocess


def end(child):
    """Ends a player's process, by force after ten seconds."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
