"""Programs that run another command: the tables behind the wrapper, runner and boundary rules.

Every entry is a fact of the tool's own manual: which options take the next word, which take none,
how many operands stand before the command, whether `NAME=value` may stand there. The rules that
read the tables are in `wrappers`, `strings`, `runners` and `boundary`.
"""


def words(text: str) -> "frozenset[str]":
    """The blank-separated words of a table cell."""
    return frozenset(text.split())


class Wrapper:
    """A program that runs its operands as a command.

    `values`  options that consume the next word.
    `flags`   options that do not; an option in neither makes the reading uncertain. None where the
              manual's list is open-ended, so that nothing can be concluded from it.
    `skip`    operands before the command (`timeout DURATION command`).
    `assigns` `NAME=value` words may precede the command and set its environment.
    `cwd`     options whose value is the directory the command runs in.
    `idle`    options with which no command runs (`sudo -l`).
    """

    __slots__ = ("assigns", "cwd", "flags", "idle", "skip", "values")

    def __init__(
        self,
        values: str = "",
        flags: "str | None" = None,
        skip: int = 0,
        assigns: bool = False,
        cwd: str = "",
        idle: str = "",
    ) -> None:
        self.values = words(values)
        self.flags = None if flags is None else words(flags)
        self.skip = skip
        self.assigns = assigns
        self.cwd = words(cwd)
        self.idle = words(idle)


_TIMEOUT = Wrapper(
    "-s --signal -k --kill-after", "-f --foreground -p --preserve-status -v --verbose", skip=1
)
_TIME = Wrapper("-f --format -o --output", "-a --append -p --portability -v --verbose -q -l -h")
_TRACE = "-a -b -e -E -I -o -O -p -P -s -S -u -U -X --attach --expr --output --string-limit"

WRAPPERS = {
    # Another user, another environment.
    "sudo": Wrapper(
        "-C --close-from -D --chdir -g --group -h --host -p --prompt -R --chroot -r --role"
        " -T --command-timeout -t --type -U --other-user -u --user",
        "-A --askpass -b --background -B --bell -E --preserve-env -H --set-home -i --login"
        " -k --reset-timestamp -K --remove-timestamp -n --non-interactive -N --no-update"
        " -P --preserve-groups -S --stdin -s --shell",
        assigns=True,
        cwd="-D --chdir",
        idle="-l --list -v --validate -V --version -e --edit",
    ),
    "doas": Wrapper("-C -u -a", "-n -s -L"),
    "run0": Wrapper(
        "-u --user -g --group -D --chdir --setenv --unit --property --slice --nice --background",
        "--no-ask-password --slice-inherit --pipe --pty",
        cwd="-D --chdir",
    ),
    "pkexec": Wrapper("--user", "--disable-internal-agent --keep-cwd"),
    "gosu": Wrapper(skip=1),
    "su-exec": Wrapper(skip=1),
    "setpriv": Wrapper("--reuid --regid --groups --inh-caps --ambient-caps --bounding-set"),
    "capsh": Wrapper("--drop --user --gid --uid"),
    "env": Wrapper(
        "-u --unset -C --chdir -P -a --argv0",
        "- -i --ignore-environment -v --debug -0 --null --block-signal --default-signal"
        " --ignore-signal --list-signal-handling",
        assigns=True,
        cwd="-C --chdir",
    ),
    "cross-env": Wrapper(assigns=True),
    "cross-env-shell": Wrapper(assigns=True),
    "env-cmd": Wrapper("-f --file -e --environments -r --rc-file"),
    "dotenv": Wrapper("-e -f --file -v -c -p"),
    "envdir": Wrapper(skip=1),
    "ssh-agent": Wrapper("-a -E -O -P -t", "-c -D -d -k -s"),
    "dbus-run-session": Wrapper("--config-file --dbus-daemon"),
    # Priority, limits, buffering, session.
    "nohup": Wrapper("", ""),
    "time": _TIME,
    "gtime": _TIME,
    "nice": Wrapper("-n --adjustment", ""),
    "ionice": Wrapper(
        "-c --class -n --classdata", "-t --ignore", idle="-p --pid -P --pgid -u --uid"
    ),
    "timeout": _TIMEOUT,
    "gtimeout": _TIMEOUT,
    "stdbuf": Wrapper("-i -o -e --input --output --error", ""),
    "setsid": Wrapper("", "-c --ctty -f --fork -w --wait"),
    "unbuffer": Wrapper("", "-p"),
    "chrt": Wrapper(
        "-T -P -D --sched-runtime --sched-period --sched-deadline",
        "-a -b -d -f -i -m -o -r -R -v --all-tasks --batch --deadline --fifo --idle --max"
        " --other --rr --reset-on-fork --verbose",
        skip=1,
        idle="-p --pid",
    ),
    "taskset": Wrapper("", "-a --all-tasks -c --cpu-list", skip=1, idle="-p --pid"),
    "numactl": Wrapper("-C -N -m -p -i --cpunodebind --membind --physcpubind --interleave"),
    "cpulimit": Wrapper("-l --limit -c --cpu", idle="-p --pid -e --exe"),
    "prlimit": Wrapper("-o --output", idle="-p --pid"),
    "caffeinate": Wrapper("-t -w", "-d -i -m -s -u"),
    "systemd-inhibit": Wrapper("--what --who --why --mode", "--no-pager --no-legend"),
    "systemd-cat": Wrapper("-t --identifier -p --priority --stderr-priority"),
    "systemd-run": Wrapper(
        "-u --unit -p --property -E --setenv --slice --uid --gid -d --description"
        " --working-directory --on-active --on-calendar --nice -H --host -M --machine",
        cwd="--working-directory",
    ),
    "setarch": Wrapper(skip=1),
    "linux32": Wrapper(),
    "linux64": Wrapper(),
    "arch": Wrapper("-arch -e -d", "-32 -64 -c -h -x86_64 -arm64 -arm64e -i386"),
    "xvfb-run": Wrapper(
        "-n --server-num -s --server-args -e --error-file -f --auth-file -w --wait -p"
        " --xauth-protocol",
        "-a --auto-servernum -l --listen-tcp",
    ),
    "faketime": Wrapper("-p", "-f -m", skip=1),
    "fakeroot": Wrapper("-l -s -i -b --lib --faked", "-u --unknown-is-real -h -v"),
    "eatmydata": Wrapper(),
    "chronic": Wrapper("", "-v -e"),
    "firejail": Wrapper("", None),
    "unshare": Wrapper("-w --wd -R --root -S --setuid -G --setgid --map-user --map-group"),
    # Tracers and profilers.
    "strace": Wrapper(_TRACE),
    "ltrace": Wrapper(_TRACE),
    "valgrind": Wrapper(),
    "catchsegv": Wrapper("", ""),
    # Network.
    "proxychains": Wrapper("-f", "-q"),
    "proxychains4": Wrapper("-f", "-q"),
    "torsocks": Wrapper("-u -p -a -P --user --pass --address --port", "-d -i -q --debug --quiet"),
    "tsocks": Wrapper(),
    "torify": Wrapper(),
    "usewithtor": Wrapper(),
    "rlwrap": Wrapper("-f -H -s -p -b -g -O -P -q -S -t -w -z -C -D -e"),
    "chpst": Wrapper("-u -U -b -/ -n -l -L -m -d -o -p -f -c -r -t -e"),
    "dumb-init": Wrapper("-r --rewrite", "-c --single-child -v --verbose"),
    "tini": Wrapper("-p -e", "-s -g -v -w"),
    # Shell builtins (bash manual 4.1, 4.2; zsh precommand modifiers).
    "command": Wrapper("", "-p"),
    "builtin": Wrapper("", ""),
    "exec": Wrapper("-a", "-c -l"),
    "noglob": Wrapper("", ""),
    "nocorrect": Wrapper("", ""),
    "coproc": Wrapper("", ""),
    # Multi-call and shims.
    "busybox": Wrapper("", "", idle="--list --list-full --install --help"),
    "toybox": Wrapper("", ""),
    "winpty": Wrapper(),
    "corepack": Wrapper(),
    "rtk": Wrapper(),
    "sem": Wrapper("-j --jobs --id", None),
    "tsp": Wrapper("-L -N -D -W", None),
    # The commands run once per file or event.
    "xargs": Wrapper(
        "-a --arg-file -d --delimiter -E -I -J -L --max-lines -n --max-args -P --max-procs"
        " -R -S -s --max-chars --process-slot-var",
        "-0 --null -e --eof -i --replace -l -o --open-tty -p --interactive -r --no-run-if-empty"
        " -t --verbose -x --exit --show-limits",
    ),
    "entr": Wrapper("", "-a -c -d -n -p -r -s -x -z"),
    "watchexec": Wrapper("-e --exts -w --watch -i --ignore -d --debounce -s --signal -f --filter"),
}

# These change nothing about the command, so a signature written with one does not ask for it.
NEUTRAL_WRAPPERS = words("command builtin exec noglob nocorrect env busybox toybox rtk corepack")

# Two-word wrappers: the options after them that take a value, and operands to skip.
WRAPPER_PAIRS = {
    ("mise", "exec"): ("-C --cd -j --jobs -E --env", 0),
    ("mise", "x"): ("-C --cd -j --jobs -E --env", 0),
    ("asdf", "exec"): ("", 0),
    ("rbenv", "exec"): ("", 0),
    ("pyenv", "exec"): ("", 0),
    ("nodenv", "exec"): ("", 0),
    ("volta", "run"): ("--node --npm --pnpm --yarn --env", 0),
    ("nvm", "exec"): ("", 1),
    ("fnm", "exec"): ("--using", 0),
    ("direnv", "exec"): ("", 1),
    ("dotenvx", "run"): ("-f --env-file -e --env -fk --env-keys-file --convention", 0),
    ("doppler", "run"): ("-p --project -c --config -t --token --mount", 0),
    ("infisical", "run"): ("--env --path --projectId --token", 0),
    ("op", "run"): ("--env-file --account", 0),
    ("aws-vault", "exec"): ("-d --duration -n --region --mfa-token", 1),
    ("devbox", "run"): ("-c --config -e --env --env-file", 0),
    ("lerna", "exec"): ("--scope --ignore --concurrency --since", 0),
    ("nx", "exec"): ("--projects -p", 0),
    ("mix", "cmd"): ("--app", 0),
    ("rustup", "run"): ("", 1),
    ("tox", "exec"): ("-e", 0),
    ("perf", "stat"): ("-e --event -o --output -r --repeat -C --cpu -p -I", 0),
    ("perf", "record"): ("-e --event -o --output -F --freq -c -C --cpu -p", 0),
    ("pueue", "add"): ("-w --working-directory -g --group -a --after -l --label", 0),
    ("flatpak-spawn", "--host"): ("", 0),
    ("scl", "enable"): ("", 1),
}
# Inside a pair, a word of the form `tool@version` names what to put on PATH.
VERSIONED_PAIRS = frozenset({("mise", "exec"), ("mise", "x")})

# Shells that read the POSIX grammar, or near enough to find the commands in their text.
SHELLS = words("sh bash zsh dash ksh ash mksh fish rbash")
POWERSHELLS = words("powershell pwsh")
# Interpreters whose inline code is not shell text: never read, never guessed.
INTERPRETERS = {
    "python": words("-c"),
    "node": words("-e --eval -p --print"),
    "ruby": words("-e"),
    "perl": words("-e -E"),
    "php": words("-r"),
    "lua": words("-e"),
    "deno": words("eval"),
    "osascript": words("-e"),
}

# Runners stay in the literal key and are dropped from the effective one. The second field says what
# they run: `bin` a tool of a package, `py` a tool or script of a Python environment.
RUNNERS = {
    ("npx",): ("-p --package -w --workspace --node-options --registry -c --call", "bin"),
    ("npm", "exec"): ("-p --package -w --workspace -c --call --prefix -C", "bin"),
    ("pnpm", "exec"): ("-C --dir -F --filter", "bin"),
    ("pnpm", "dlx"): ("--package -C --dir", "bin"),
    ("pnpx",): ("--package", "bin"),
    ("yarn", "exec"): ("--cwd", "bin"),
    ("yarn", "dlx"): ("-p --package", "bin"),
    ("bunx",): ("-p --package", "bin"),
    ("bun", "x"): ("-p --package", "bin"),
    ("bundle", "exec"): ("--gemfile", "bin"),
    ("uvx",): (
        "--from --with --with-editable --with-requirements -p --python --index --index-url"
        " --default-index --env-file",
        "py",
    ),
    ("uv", "tool", "run"): (
        "--from --with --with-editable --with-requirements -p --python --index --default-index",
        "py",
    ),
    ("uv", "run"): (
        "--with --with-editable --with-requirements -p --python --extra --no-extra --group"
        " --no-group --only-group --env-file --project --directory --package --index"
        " --default-index",
        "py",
    ),
    ("poetry", "run"): ("", "py"),
    ("pdm", "run"): ("-p --project --venv", "py"),
    ("rye", "run"): ("", "py"),
    ("hatch", "run"): ("", "py"),
    ("pipenv", "run"): ("", "py"),
    ("pixi", "run"): ("-e --environment --manifest-path", "py"),
    ("pipx", "run"): ("--spec --python --index-url --pip-args", "py"),
    ("conda", "run"): ("-n --name -p --prefix --cwd", "py"),
    ("mamba", "run"): ("-n --name -p --prefix --cwd", "py"),
    ("micromamba", "run"): ("-n --name -p --prefix --cwd", "py"),
    ("coverage", "run"): (
        "--context --data-file --include --omit --rcfile --source --concurrency",
        "py",
    ),
}
RUNNER_HEADS = frozenset(key[0] for key in RUNNERS)
# Runners that are handed a package: its version suffix is not part of the tool's name.
PACKAGE_RUNNERS = words("npx npm pnpm pnpx yarn bunx bun uvx pipx")

_CONTAINER = (
    "-a --attach --add-host --annotation --blkio-weight --cap-add --cap-drop --cgroup-parent"
    " --cgroupns --cidfile --cpu-period --cpu-quota --cpu-shares -c --cpus --cpuset-cpus"
    " --detach-keys --device --dns --domainname --entrypoint -e --env --env-file --expose --gpus"
    " --group-add --health-cmd --health-interval -h --hostname --ip --ipc -l --label --label-file"
    " --link --log-driver --log-opt --mac-address -m --memory --memory-swap --mount --name --net"
    " --network --network-alias --pid --pids-limit --platform -p --publish --pull --restart"
    " --runtime --security-opt --shm-size --stop-signal --stop-timeout --storage-opt --sysctl"
    " --tmpfs --ulimit -u --user --userns --uts -v --volume --volume-driver --volumes-from"
    " -w --workdir"
)
_CONTAINER_EXEC = "-e --env -u --user -w --workdir --env-file --detach-keys"
_COMPOSE_EXEC = "-e --env -u --user -w --workdir --index"
_COMPOSE_RUN = (
    "--cap-add --cap-drop -e --env --env-from-file --entrypoint -l --label --name -p --publish"
    " --pull -u --user -v --volume -w --workdir"
)
_KUBE = "-n --namespace -c --container --context --kubeconfig -f --filename --pod-running-timeout"

# Another machine, container or root: what runs there is not what a rule learned here is about.
# The words that name it: options that take a value, operands before the inner command.
BOUNDARIES = {
    ("docker", "exec"): (_CONTAINER_EXEC, 1),
    ("docker", "run"): (_CONTAINER, 1),
    ("docker", "container", "exec"): (_CONTAINER_EXEC, 1),
    ("docker", "container", "run"): (_CONTAINER, 1),
    ("docker", "compose", "exec"): (_COMPOSE_EXEC, 1),
    ("docker", "compose", "run"): (_COMPOSE_RUN, 1),
    ("podman", "exec"): (_CONTAINER_EXEC, 1),
    ("podman", "run"): (_CONTAINER, 1),
    ("nerdctl", "exec"): (_CONTAINER_EXEC, 1),
    ("nerdctl", "run"): (_CONTAINER, 1),
    ("kubectl", "exec"): (_KUBE, 1),
    ("oc", "exec"): (_KUBE, 1),
    ("oc", "rsh"): (_KUBE, 1),
    ("ssh",): ("-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w", 1),
    ("autossh",): ("-M -B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w", 1),
    ("chroot",): ("--userspec --groups", 1),
    ("nsenter",): ("-t --target -S --setuid -G --setgid", 0),
    ("vagrant", "ssh"): ("-c --command", 0),
    ("wsl",): ("-d --distribution -u --user --cd --shell-type", 0),
    ("devcontainer", "exec"): ("--workspace-folder --config --container-id --remote-env", 0),
    ("adb", "shell"): ("-e", 0),
    ("lxc", "exec"): ("--cwd --env --group --mode --user", 1),
    ("incus", "exec"): ("--cwd --env --group --mode --user", 1),
    ("multipass", "exec"): ("-d --working-directory", 1),
    ("toolbox", "run"): ("-c --container -d --distro -r --release", 0),
    ("distrobox", "enter"): ("-n --name -a --additional-flags", 0),
    ("machinectl", "shell"): ("-E --setenv --uid", 1),
    ("gcloud", "compute", "ssh"): ("--zone --project --command", 1),
    ("fly", "ssh", "console"): ("-a --app -C --command -r --region", 0),
    ("flyctl", "ssh", "console"): ("-a --app -C --command -r --region", 0),
    ("heroku", "run"): ("-a --app -r --remote -s --size", 0),
}
BOUNDARY_HEADS = frozenset(key[0] for key in BOUNDARIES)
# The operands form one text that the far shell reads.
BOUNDARY_JOINED = words("ssh autossh adb heroku")
# The command is the value of an option.
BOUNDARY_COMMAND_OPTIONS = {
    ("vagrant", "ssh"): words("-c --command"),
    ("gcloud", "compute", "ssh"): words("--command"),
    ("fly", "ssh", "console"): words("-C --command"),
    ("flyctl", "ssh", "console"): words("-C --command"),
}
