"""Packages of a build, of the CPU or of CUDA: archive, Debian packages and Python wheel. usage: package.py BUILD OUT

All hold one tree: bin/ingot, its modules in lib/ingot, manual page, completions, licences, recipes. What the program
needs to start and a bare machine lacks (fmt, spdlog) lies in lib/ingot of archive and wheel; the Debian package asks
for it. Libraries that only a module needs are the machine's; `ingot version` says which are there. Arrow, of which
Debian has no package, is a package of its own, and an extra of the wheel.

A CUDA build makes packages of other names, ingot-cuda, which take the place of ingot. NVIDIA's libraries are in none
of them: the Debian package and the wheel ask for NVIDIA's packages, the archive for an installed CUDA 13.

The Debian packages name as their maintainer who makes them, by Debian's variables DEBFULLNAME and DEBEMAIL.
"""

import base64
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

SUMMARY = "From raw text to a trained language model, in one program"
# As Debian wants it: lines of a space and text.
DESCRIPTION = (" Ingot cleans, deduplicates and mixes text, trains tokenizers and language models on one or many\n"
               " machines, imports and exports models of other programs, and generates text.")
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Every Linux that can start the program has these.
SYSTEM = re.compile(r"(linux-vdso|ld-linux-x86-64|libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+)\.so")
ARROW = ("libarrow", "libparquet", "libarrow_s3")
NVIDIA = re.compile(r"libcu(blas|dart|dnn)|libnccl")
# As NVIDIA's repository for Debian names them: what the program starts with, and what it loads when it is used.
NVIDIA_DEPENDS = " | ".join(f"libcublas-13-{minor}" for minor in range(6))
NVIDIA_RECOMMENDS = "libcudnn9-cuda-13, libnccl2"
# An address that can be nobody's (RFC 2606), where nobody said whose package it is.
NO_MAINTAINER = ("Ingot developers", "developers@ingot.invalid")


def output_of(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def compressed(text):
    return gzip.compress(text.encode(), mtime=0)


def needed(program):
    """{name: path} of the libraries that the loader finds for it; a missing one has the path None."""
    lines = re.findall(r"^\s+(\S+) (?:=> )?(not found|/\S+)?", output_of("ldd", program), re.MULTILINE)
    return {os.path.basename(name): None if path == "not found" else path for name, path in lines}


def pinned(name):
    """What tools/NAME.txt pins, as a list of requirements."""
    with open(os.path.join(HERE, f"tools/{name}.txt"), encoding="utf-8") as file:
        return file.read().split()


def maintainer():
    name = os.environ.get("DEBFULLNAME", NO_MAINTAINER[0])
    return f"{name} <{os.environ.get('DEBEMAIL') or NO_MAINTAINER[1]}>"


def release():
    """"deb12": packages of one release do not fit another."""
    with open("/etc/os-release", encoding="utf-8") as file:
        facts = dict(re.findall(r'^(\w+)="?([^"\n]*)', file.read(), re.MULTILINE))
    return ("deb" if facts["ID"] == "debian" else facts["ID"]) + facts.get("VERSION_ID", "")


class Build:
    def __init__(self, folder, out):
        self.folder, self.out = os.path.abspath(folder), os.path.abspath(out)
        cache = os.path.join(self.folder, "CMakeCache.txt")
        with open(cache, encoding="utf-8") as file:
            settings = dict(re.findall(r"^(\w+):\w+=(.*)$", file.read(), re.MULTILINE))
        self.version = settings["CMAKE_PROJECT_VERSION"]
        self.tree = os.path.join(self.out, "tree")
        self.is_cuda = settings.get("INGOT_CUDA", "OFF") == "ON"
        self.name = "ingot-cuda" if self.is_cuda else "ingot"
        self.summary = SUMMARY + (", with CUDA" if self.is_cuda else "")
        # Where the build found libraries of NVIDIA's: the installed program need not find them here.
        found = needed(os.path.join(self.folder, "ingot"))
        self.nvidia_folders = sorted({os.path.dirname(path) for name, path in found.items()
                                      if path and NVIDIA.match(name)})

    def said_by_program(self, *arguments):
        folders = ":".join([*self.nvidia_folders, os.environ.get("LD_LIBRARY_PATH", "")]).strip(":")
        environment = dict(os.environ, LD_LIBRARY_PATH=folders) if folders else None
        return output_of(os.path.join(self.tree, "bin/ingot"), *arguments, env=environment)

    def stage(self):
        """The tree that all packages hold."""
        shutil.rmtree(self.out, ignore_errors=True)
        output_of("cmake", "--install", self.folder, "--prefix", self.tree, "--strip")
        share = os.path.join(self.tree, "share")
        write(f"{share}/man/man1/ingot.1.gz", compressed(self.said_by_program("man")))
        for shell, path in (("bash", "bash-completion/completions/ingot"), ("zsh", "zsh/site-functions/_ingot"),
                            ("fish", "fish/vendor_completions.d/ingot.fish")):
            write(f"{share}/{path}", self.said_by_program("completion", shell))

    def with_libraries(self):
        """A copy of the tree with the libraries that the program needs to start."""
        tree = os.path.join(self.out, "with-libraries")
        shutil.copytree(self.tree, tree)
        for name, path in needed(os.path.join(self.tree, "bin/ingot")).items():
            if SYSTEM.match(name) or NVIDIA.match(name):
                continue
            if path is None:
                sys.exit(f"package.py: the program needs {name}, which this machine lacks")
            shutil.copy(os.path.realpath(path), os.path.join(tree, "lib/ingot", name))
            output_of("strip", "--strip-unneeded", os.path.join(tree, "lib/ingot", name))
        return tree

    def with_arrow(self):
        """Arrow's libraries from the wheel that the build used, or nothing where it used none."""
        if not os.path.exists(os.path.join(self.tree, "lib/ingot/libingot_arrow.so")):
            return None
        found = needed(os.path.join(self.folder, "libingot_arrow.so"))
        tree = os.path.join(self.out, "arrow")
        for name, path in found.items():
            if name.split(".")[0] in ARROW:
                os.makedirs(f"{tree}/lib/ingot", exist_ok=True)
                shutil.copy(os.path.realpath(path), f"{tree}/lib/ingot/{name}")
                output_of("strip", "--strip-unneeded", f"{tree}/lib/ingot/{name}")
                wheel = os.path.dirname(path)
        site = os.path.dirname(wheel)
        info = next(name for name in os.listdir(site) if re.fullmatch(r"pyarrow-.*\.dist-info", name))
        for name in ("LICENSE.txt", "NOTICE.txt"):
            with open(f"{site}/{info}/licenses/{name}", "rb") as file:
                write(f"{tree}/share/doc/ingot-arrow/{name}", file.read())
        return tree

    def archive(self, name, tree):
        """name-version-system.tar.gz; of one folder, except for what is unpacked over it."""
        system = f"{self.version}-{release()}-x86_64"
        path = os.path.join(self.out, f"{name}-{system}.tar.gz")

        def plain(info):
            info.uid = info.gid = 0
            info.uname = info.gname = "root"
            return info

        with tarfile.open(path, "w:gz") as tar:
            tar.add(tree, f"ingot-{system}", filter=plain)
        return path

    def shared_libraries(self, field, files, known=""):
        """Debian's packages for what these link, as dpkg-shlibdeps knows them, but for those in `known`."""
        work = os.path.join(self.out, "shlibs")
        write(f"{work}/debian/control", "Source: ingot\n\nPackage: ingot\nArchitecture: any\n")
        # Of NVIDIA's, Debian knows nothing: NVIDIA_DEPENDS.
        elsewhere = [f"-l{folder}" for folder in self.nvidia_folders] + ["--ignore-missing-info"] * self.is_cuda
        text = output_of("dpkg-shlibdeps", "-O", f"-d{field}", *elsewhere, *files, cwd=work, stderr=subprocess.DEVNULL)
        have = {name.split()[0] for name in known.split(", ") if name}
        return ", ".join(p for p in text.strip().partition("=")[2].split(", ") if p.split()[0] not in have)

    def debian(self, name, tree, fields):
        root = os.path.join(self.out, "deb-" + name)
        shutil.copytree(tree, os.path.join(root, "usr"))
        docs = os.path.join(root, "usr/share/doc", name)
        if self.is_cuda:
            os.rename(os.path.join(root, "usr/share/doc/ingot"), docs)
        notice = "NOTICE" if name == self.name else "LICENSE.txt"
        shutil.copy(os.path.join(docs, notice), os.path.join(docs, "copyright"))  # where Debian looks for it
        size = sum(os.path.getsize(os.path.join(path, f)) for path, _, files in os.walk(root) for f in files)
        control = {"Package": name, "Version": f"{self.version}-1+{release()}", "Architecture": "amd64",
                   "Maintainer": maintainer(),
                   "Installed-Size": str(size // 1024), "Section": "science", "Priority": "optional", **fields}
        write(f"{root}/DEBIAN/control", "".join(f"{key}: {value}\n" for key, value in control.items() if value))
        path = os.path.join(self.out, f"{name}_{control['Version']}_amd64.deb")
        output_of("dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, path)
        return path

    def debian_packages(self, arrow):
        lib = os.path.join(self.tree, "lib/ingot")
        modules = [os.path.join(lib, f"libingot_{name}.so") for name in ("http", "regex", "sentencepiece")]
        mpi = os.path.join(lib, "libingot_mpi.so")
        depends = self.shared_libraries("Depends", [os.path.join(self.tree, "bin/ingot")])
        recommends = self.shared_libraries("Recommends", modules, depends)
        suggests = [self.shared_libraries("Suggests", [mpi], depends), "openmpi-bin"] if os.path.exists(mpi) else []
        of_cuda = {}
        if self.is_cuda:
            depends += f", {NVIDIA_DEPENDS}"
            recommends += f", {NVIDIA_RECOMMENDS}"
            of_cuda = {"Provides": f"ingot (= {self.version}-1+{release()})", "Conflicts": "ingot", "Replaces": "ingot"}
        yield self.debian(self.name, self.tree, {
            "Depends": depends,
            "Recommends": recommends,
            "Suggests": ", ".join(suggests + ["ingot-arrow"] * bool(arrow)),
            **of_cuda,
            "Description": f"{self.summary}\n{DESCRIPTION}"})
        if arrow and not self.is_cuda:  # the same for both
            yield self.debian("ingot-arrow", arrow, {
                "Depends": f"ingot (= {self.version}-1+{release()})",
                "Description": "Arrow for Ingot: parquet files and s3://\n"
                               " Apache Arrow's libraries, which Ingot loads when it reads such files."})

    def wheel(self, tree):
        """Scripts of a wheel become programs on the PATH, its data lies under the same prefix."""
        glibc = os.confstr("CS_GNU_LIBC_VERSION").split()[1].replace(".", "_")
        base = f"{self.name.replace('-', '_')}-{self.version}"
        tag = f"py3-none-manylinux_{glibc}_x86_64"
        arrow, = pinned("requirements-arrow")
        # What its compiler needs of NVIDIA's wheels at run time is not asked for: the program has no code to compile.
        nvidia = [line for file in ("cuda-toolkit", "cudnn", "nccl") for line in pinned("requirements-" + file)
                  if re.match(r"nvidia-(cublas|cudnn-cu13|cuda-nvrtc|nccl-cu13)==", line)] if self.is_cuda else []
        with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
            readme = file.read()
        metadata = (f"Metadata-Version: 2.4\nName: {self.name}\nVersion: {self.version}\n"
                    f"Summary: {self.summary}\n"
                    "License-Expression: Apache-2.0\nLicense-File: LICENSE\nLicense-File: NOTICE\n"
                    + "".join(f"Requires-Dist: {each}\n" for each in nvidia) +
                    f"Provides-Extra: arrow\nRequires-Dist: {arrow}; extra == \"arrow\"\n"
                    f"Description-Content-Type: text/markdown\n\n{readme}")
        files = {f"{base}.dist-info/METADATA": metadata.encode(),
                 f"{base}.dist-info/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()}
        for path, _, names in os.walk(tree):
            for name in names:
                below = os.path.relpath(os.path.join(path, name), tree)
                if below.startswith("bin/"):
                    inside = f"{base}.data/scripts/{name}"
                elif name in ("LICENSE", "NOTICE"):
                    inside = f"{base}.dist-info/licenses/{name}"
                else:
                    inside = f"{base}.data/data/{below}"
                with open(os.path.join(path, name), "rb") as file:
                    files[inside] = file.read()
        record = io.StringIO()
        for name, data in sorted(files.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.write(f"{name},sha256={digest},{len(data)}\n")
        record.write(f"{base}.dist-info/RECORD,,\n")
        files[f"{base}.dist-info/RECORD"] = record.getvalue().encode()
        out = os.path.join(self.out, f"{base}-{tag}.whl")
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as wheel:
            for name, data in sorted(files.items(), key=lambda item: (".dist-info/" in item[0], item[0])):
                info = zipfile.ZipInfo(name)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
                wheel.writestr(info, data)
        return out


def main(folder, out):
    build = Build(folder, out)
    build.stage()
    whole, arrow = build.with_libraries(), build.with_arrow()
    made = [build.archive(build.name, whole), *build.debian_packages(arrow), build.wheel(whole)]
    if arrow and not build.is_cuda:
        made.append(build.archive("ingot-arrow", arrow))
    for name in os.listdir(build.out):  # what they were made of
        if os.path.isdir(os.path.join(build.out, name)):
            shutil.rmtree(os.path.join(build.out, name))
    sums = "".join(f"{output_of('sha256sum', os.path.basename(path), cwd=build.out)}" for path in made)
    write(os.path.join(build.out, "SHA256SUMS"), sums)
    for path in made:
        print(f"{os.path.getsize(path) / 1e6:8.1f} MB  {os.path.relpath(path)}")
    if not os.environ.get("DEBEMAIL"):
        print(f"the Debian packages name {maintainer()}: set DEBFULLNAME and DEBEMAIL to publish them")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
