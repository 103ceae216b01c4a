"""The page of `ingot serve` in headless Chromium: tools/page_check.py with a model that was trained for a second.

usage: page_test.py INGOT PAGE_CHECK
Exit status 77, which ctest counts as skipped, where there is no Chromium or no selenium.
"""

import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile


def missing():
    programs = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    return programs + [name for name in ("selenium", "axe_core_python") if not importlib.util.find_spec(name)]


def train(ingot, folder):
    """Bytes that are letters, so that a reply streams and can be read."""
    text = folder / "text.txt"
    text.write_text("".join(f"The cat of house {i} sat on a mat and told a story.\n" for i in range(3000)))
    settings = {
        "preset": "llama_test", "data.train": text, "checkpoint.dir": folder / "run", "batch.seq": 64,
        "batch.micro_batch": 8, "train.steps": 60, "optim.lr": 0.01, "train.eval_tokens": 64, "system.device": "cpu",
    }
    sets = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    (folder / "recipe.toml").write_text("")
    subprocess.run([ingot, "train", folder / "recipe.toml", *sets], check=True, stdout=subprocess.DEVNULL)
    return folder / "run"


def main():
    ingot, page_check = sys.argv[1:]
    if absent := missing():
        print(f"skipped: this machine has no {', '.join(absent)}: see tools/requirements-page.txt")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        run = train(ingot, pathlib.Path(folder))
        with subprocess.Popen([ingot, "serve", run, "--port", "0"], stdout=subprocess.PIPE, text=True) as server:
            try:
                address = server.stdout.readline().split()[-1]
                sys.exit(subprocess.run([sys.executable, page_check, address], check=False).returncode)
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
