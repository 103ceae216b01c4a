#!/bin/sh
# use.sh deb|archive|wheel: what try.sh runs on the bare system. Every step says what it expects.
set -eu
form=$1
cd /try
say() { echo "== $form: $*"; }
fail() { echo "use.sh: $form: $*" >&2; exit 1; }
says() {  # says WORDS COMMAND…: the command fails, and these words are in what it says
  words=$1; shift
  ! "$@" >said 2>&1 || fail "expected an error of: $*"
  grep -qF "$words" said || { cat said; fail "expected «$words» from: $*"; }
  say "$(tail -n 1 said)"
}
install_apt() { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >apt.log 2>&1 || { cat apt.log; exit 1; }; }

apt-get update -qq
case $form in
  deb) install_apt ./packages/ingot_*.deb ;;
  archive)
    mkdir -p "/opt/a folder"  # any place
    tar -xzf packages/ingot-[0-9]*.tar.gz -C "/opt/a folder"
    ln -s "/opt/a folder"/ingot-*/bin/ingot /usr/local/bin/ingot ;;
  wheel)
    install_apt python3-venv
    python3 -m venv /venv
    /venv/bin/pip install -q --disable-pip-version-check packages/ingot-*.whl
    PATH=/venv/bin:$PATH ;;
esac

say "$(command -v ingot)"
ingot version
ingot version --licenses | grep -q "Apache License" || fail "no licences"
prefix=$(dirname "$(dirname "$(readlink -f "$(command -v ingot)")")")
gunzip -t "$prefix/share/man/man1/ingot.1.gz"
for completion in bash-completion/completions/ingot zsh/site-functions/_ingot fish/vendor_completions.d/ingot.fish; do
  grep -q ingot "$prefix/share/$completion" || fail "no $completion"
done

ingot smoke
cat >recipe.toml <<'TOML'
preset = "llama_test"
[batch]
micro_batch = 2
seq = 16
[train]
steps = 20
eval_tokens = 64
TOML
ingot train recipe.toml --set data.train=README.md --set checkpoint.dir=alone | tail -n 1
ingot generate alone --prompt "Ingot" --tokens 8 >/dev/null

# Without what is optional: a sentence that says what is missing.
says "parquet and s3:// need Arrow" ingot data dedup plain.parquet --out none
says "MPI needs Open MPI" env OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=0 \
  OMPI_COMM_WORLD_LOCAL_SIZE=2 ingot train recipe.toml --set data.train=README.md --set checkpoint.dir=none \
  --set system.backend=mpi  # as mpirun of another MPI would start it
# With it: the same commands work.
case $form in
  deb) install_apt ./packages/ingot-arrow_*.deb openmpi-bin ;;
  archive)
    tar -xzf packages/ingot-arrow-*.tar.gz -C "/opt/a folder"
    install_apt openmpi-bin ;;
  wheel)
    /venv/bin/pip install -q --disable-pip-version-check "$(ls packages/ingot-*.whl)[arrow]"
    install_apt openmpi-bin ;;
esac
ingot data dedup plain.parquet --out unique | tail -n 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun --oversubscribe -n 2 ingot train recipe.toml --set data.train=README.md --set checkpoint.dir=ranks \
  --set system.backend=mpi | tail -n 1
ingot version
say "works"
