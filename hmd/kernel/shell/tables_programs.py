"""What is known of single programs: global options, subcommands, aliases, option spellings.

Facts of the tools' own manuals, used by `keys`, `match` and `tokens`.
"""

from hmd.kernel.shell.tables_wrappers import words

# Names under which one program is installed.
PROGRAM_ALIASES = {
    "nodejs": "node",
    "py": "python",
    "pythonw": "python",
    "pypy": "python",
    "gradlew": "gradle",
    "mvnw": "mvn",
    "gmake": "make",
    "gfind": "find",
    "gxargs": "xargs",
    "grm": "rm",
    "batcat": "bat",
    "fdfind": "fd",
}
WINDOWS_SUFFIXES = (".exe", ".cmd", ".bat", ".com")

# Options between program and subcommand that take the next word.
GLOBAL_VALUES = {
    "git": words(
        "-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix"
        " --attr-source --list-cmds"
    ),
    "docker": words(
        "--config --context -c --host -H --log-level -l --tlscacert --tlscert --tlskey"
    ),
    "podman": words("--connection -c --url --log-level --root --runroot --storage-driver"),
    "nerdctl": words("--namespace -n --address -a --host -H --snapshotter"),
    "kubectl": words(
        "--as --as-group --cache-dir --certificate-authority --client-certificate --client-key"
        " --cluster --context --kubeconfig --namespace -n --request-timeout --server -s"
        " --tls-server-name --token --user --username --password -v"
    ),
    "helm": words("--kube-context --kubeconfig --namespace -n --registry-config"),
    "cargo": words("--color --config --manifest-path -C -Z"),
    "go": words("-C"),
    "npm": words(
        "--access --auth-type --cache --loglevel --node-options --otp --prefix -C --registry"
        " --scope --script-shell --tag --userconfig --globalconfig --workspace -w"
    ),
    "pnpm": words(
        "--dir -C --filter -F --filter-prod --loglevel --reporter --registry --store-dir"
        " --use-node-version --workspace-concurrency"
    ),
    "yarn": words(
        "--cwd --cache-folder --modules-folder --mutex --registry --use-yarnrc --network-timeout"
    ),
    "bun": words("--cwd --config -c --env-file --filter -F --preload -r"),
    "deno": words("--config -c --log-level -L"),
    "make": words(
        "-C --directory -f --file --makefile -I --include-dir -o --old-file --assume-old -W"
        " --what-if --new-file -E --eval"
    ),
    "just": words("-f --justfile -d --working-directory --set --shell --dotenv-path"),
    "task": words("-t --taskfile -d --dir -C --concurrency -o --output"),
    "rake": words("-f --rakefile -C --directory -I --libdir -R --rakelibdir -r --require"),
    "ninja": words("-C -f -j -k -l -d -t -w"),
    "ant": words("-f -buildfile -file -lib -logger -propertyfile"),
    "terraform": words("-chdir"),
    "tofu": words("-chdir"),
    "terragrunt": words("--working-dir --config"),
    "pulumi": words("--cwd -C --stack -s --color --tracing"),
    "gh": words("--repo -R --hostname"),
    "glab": words("--repo -R"),
    "aws": words(
        "--ca-bundle --cli-connect-timeout --cli-read-timeout --color --endpoint-url --output"
        " --profile --query --region"
    ),
    "gcloud": words(
        "--account --billing-project --configuration --filter --flags-file --format"
        " --impersonate-service-account --project --verbosity --zone --region"
    ),
    "az": words("--subscription --output -o --query"),
    "systemctl": words(
        "--host -H --machine -M --property -p --root --type -t --state --signal -s --lines -n"
        " --output -o --job-mode"
    ),
    "apt-get": words("-c --config-file -o --option -t --target-release --default-release"),
    "apt": words("-c --config-file -o --option -t --target-release --default-release"),
    "dnf": words("-c --config --enablerepo --disablerepo --installroot --releasever -x"),
    "yum": words("-c --config --enablerepo --disablerepo --installroot --releasever -x"),
    "pip": words(
        "--cache-dir --cert --client-cert --log --proxy --python --retries --timeout"
        " --trusted-host --exists-action --keyring-provider"
    ),
    "uv": words("--allow-insecure-host --cache-dir --color --config-file --directory --project"),
    "poetry": words("--directory -C --project -P"),
    "pdm": words("--config -c"),
    "hatch": words("--env -e --project -p --config --data-dir --cache-dir"),
    "conda": words("--name -n --prefix -p"),
    "dotnet": words("--fx-version --roll-forward --additionalprobingpath"),
    "gradle": words(
        "--project-dir -p --build-file -b --settings-file -c --init-script -I --gradle-user-home"
        " -g --exclude-task -x --console --max-workers --project-prop -P -D --tests"
    ),
    "mvn": words("--file -f --projects -pl -P -T --threads -s --settings -gs -t -D -rf"),
    "composer": words("--working-dir -d"),
    "bundle": words("--gemfile"),
    "flutter": words("--device-id -d --packages"),
    "turbo": words("--cwd --filter -F --concurrency --cache-dir --team --token"),
    "nx": words("--target -t --projects -p"),
    "tmux": words("-L -S -c -f -T"),
    "heroku": words("--app -a --remote -r"),
    "fly": words("--app -a --config -c --access-token -t"),
    "flyctl": words("--app -a --config -c --access-token -t"),
    "vercel": words("--cwd --scope -S --token -t --local-config -A --global-config -Q"),
    "wrangler": words("--config -c --env -e --cwd"),
    "svn": words("--username --password --config-dir --config-option"),
    "hg": words("--repository -R --cwd --config --encoding --color"),
    "jj": words("--repository -R --at-operation --color --config"),
    "ansible-vault": words("--vault-id --vault-password-file"),
    "vault": words("-address -namespace"),
    "supabase": words("--workdir --profile --network-id"),
    "firebase": words("--project -P --token --account"),
    "serverless": words("--stage -s --region -r --config -c"),
    "alembic": words("-c --config -n --name -x"),
    "ip": words("-n -netns -f -family"),
}
# Options between the words of a nested subcommand (`docker compose -f x up`), by its first words.
NESTED_VALUES = {
    "docker compose": words(
        "-f --file -p --project-name --profile --env-file --project-directory --ansi --parallel"
        " --progress"
    ),
    "git stash": frozenset(),
    "uv pip": words("--python -p --color --cache-dir --directory --project"),
}
NESTED_FLAGS = {
    "docker compose": words("--all-resources --compatibility --dry-run --verbose"),
    "git remote": words("-v --verbose"),
    "git submodule": words("-q --quiet"),
    "npm run": words(
        "-s --silent --if-present --ignore-scripts -ws --workspaces --foreground-scripts"
    ),
    "pnpm run": words("-s --silent --if-present -r --recursive"),
}

# Options whose value is a directory the program changes to, and whether they count anywhere.
CWD_OPTIONS = {
    "git": words("-C"),
    "npm": words("--prefix -C"),
    "pnpm": words("--dir -C"),
    "yarn": words("--cwd"),
    "bun": words("--cwd"),
    "make": words("-C --directory"),
    "ninja": words("-C"),
    "rake": words("-C --directory"),
    "cargo": words("-C"),
    "go": words("-C"),
    "uv": words("--directory --project"),
    "poetry": words("--directory -C --project -P"),
    "just": words("--working-directory -d"),
    "task": words("--dir -d"),
    "terraform": words("-chdir"),
    "tofu": words("-chdir"),
    "terragrunt": words("--working-dir"),
    "pulumi": words("--cwd -C"),
    "gradle": words("--project-dir -p"),
    "composer": words("--working-dir -d"),
    "turbo": words("--cwd"),
    "vercel": words("--cwd"),
    "hg": words("--cwd -R --repository"),
    "jj": words("-R --repository"),
}
# Options that choose a workspace by name: its directory is not known here, its name is.
WORKSPACE_OPTIONS = {
    "npm": words("-w --workspace"),
    "pnpm": words("--filter -F"),
    "bun": words("--filter -F"),
}

# How many leading words name the operation. Programs not listed have one: their own name.
LEVELS = {
    **dict.fromkeys(
        "git docker podman nerdctl kubectl oc helm cargo go npm pnpm yarn bun deno pip uv poetry"
        " pdm make just task terraform tofu terragrunt systemctl service apt-get apt dnf yum"
        " pacman apk brew dotnet gradle mvn composer bundle flutter dart mix rails rake ninja ant"
        " nx turbo conda mamba rustup gem swift npx heroku fly flyctl vercel wrangler alembic"
        " django-admin manage.py dbt vagrant pulumi cdk sam serverless hg svn jj nix launchctl"
        " diskutil snap flatpak supabase firebase netlify sequelize knex typeorm drizzle-kit"
        " argocd flux vault consul nomad minikube kind k3d eksctl doctl ip tmux pipenv hatch rye"
        " asdf mise volta lerna redis-cli-x helmfile skaffold pm2 glab sst ng artisan".split(),
        2,
    ),
    **dict.fromkeys("gh aws az prisma airflow".split(), 3),
    "gcloud": 4,
    "npx": 2,
    "tox": 1,
    "nox": 1,
    "ansible": 1,
}
# Deeper for matching only: under these words one more word says what is done.
NESTED_LEVELS = {
    f"{program} {word}": 3
    for program, nested in {
        "git": "bisect bundle flow lfs notes reflog remote stash sparse-checkout submodule "
        "subtree worktree maintenance",
        "docker": "builder buildx compose config container context image network node plugin "
        "secret service stack swarm system volume",
        "podman": "container image network pod system volume",
        "kubectl": "auth config rollout set",
        "helm": "repo plugin",
        "npm": "access cache config dist-tag org owner run team token",
        "pnpm": "cache config env run store",
        "yarn": "cache config npm plugin workspaces",
        "bun": "pm run",
        "deno": "task",
        "pip": "cache config",
        "uv": "cache pip python self tool",
        "poetry": "cache env self source",
        "go": "mod tool work",
        "terraform": "state workspace",
        "tofu": "state workspace",
        "brew": "services",
        "bundle": "config",
        "conda": "env",
        "rustup": "component target toolchain",
        "dotnet": "ef nuget tool",
        "composer": "global",
        "nix": "flake store profile",
        "pulumi": "stack config",
        "fly": "apps machine secrets volumes",
        "vercel": "env",
        "wrangler": "d1 kv r2 secret",
        "supabase": "db migration",
        "vault": "kv",
        "vagrant": "box plugin",
        "argocd": "app",
        "heroku": "pg",
    }.items()
    for word in nested.split()
}
# Shallower than the table says: what follows is an operand, not a subcommand.
NESTED_LEVELS.update(
    {"gh api": 2, "gh browse": 2, "gh status": 2, "az login": 2, "az rest": 2, "aws configure": 2}
)
# Every operand is a goal of its own: `make clean deploy` deploys.
GOAL_PROGRAMS = words("make gradle mvn rake ninja ant task")

SUBCOMMAND_ALIASES = {
    "npm": {
        **dict.fromkeys("t tst".split(), "test"),
        **dict.fromkeys("run-script rum urn".split(), "run"),
        **dict.fromkeys(
            "i in ins inst insta instal isnt isnta isntal isntall add".split(), "install"
        ),
        **dict.fromkeys("clean-install ic install-clean isntall-clean".split(), "ci"),
        **dict.fromkeys("rm r un unlink remove".split(), "uninstall"),
        **dict.fromkeys("up upgrade udpate".split(), "update"),
        **dict.fromkeys("ls ll la".split(), "list"),
        **dict.fromkeys("info show v".split(), "view"),
        **dict.fromkeys("it".split(), "install-test"),
        **dict.fromkeys("cit".split(), "install-ci-test"),
        "x": "exec",
    },
    "pnpm": {
        **dict.fromkeys("t tst".split(), "test"),
        "run-script": "run",
        "i": "install",
        **dict.fromkeys("rm un uninstall".split(), "remove"),
        **dict.fromkeys("up upgrade".split(), "update"),
        "ls": "list",
        "ln": "link",
    },
    "bun": {"i": "install", "a": "add", "rm": "remove", "r": "run"},
    "cargo": {"t": "test", "b": "build", "r": "run", "c": "check", "d": "doc", "rm": "remove"},
    "helm": dict.fromkeys("del delete un".split(), "uninstall"),
    "brew": {"rm": "uninstall", "remove": "uninstall", "up": "update"},
    "gem": {"i": "install"},
    "composer": {"i": "install", "r": "require", "u": "update"},
    "hg": {"ci": "commit"},
    "svn": {"ci": "commit", "rm": "delete", "del": "delete", "remove": "delete"},
    "kubectl": {"del": "delete"},
    "dnf": {"erase": "remove"},
    "yum": {"erase": "remove"},
}

# npm runs these scripts without `run`; any other bare word is an error.
NPM_SCRIPTS = words("test start stop restart")
PNPM_BUILTINS = words(
    "add approve-builds audit bin c cache cat-file cat-index config create dedupe deploy dlx doctor"
    " env exec fetch find-hash get help i import init install install-test it licenses link list"
    " ll ln login logout ls m multi outdated pack patch patch-commit patch-remove prune publish"
    " rebuild recursive remove restart rm root run self-update server set setup start stop store t"
    " test tst un uninstall unlink up update upgrade version view whoami why"
)
YARN_BUILTINS = words(
    "add audit autoclean bin cache check config constraints create dedupe dlx exec explain"
    " generate-lock-entry global help import info init install licenses link list login logout"
    " node npm outdated owner pack patch patch-commit plugin policies prune publish rebuild remove"
    " run search set stage tag team unlink unplug up upgrade upgrade-interactive version versions"
    " why workspace workspaces"
)
BUN_BUILTINS = words(
    "a add audit build completions create exec feedback help i info init install link list"
    " outdated patch patch-commit pm publish r remove repl rm run test unlink update upgrade why x"
)
SCRIPT_LIFECYCLE = words("test start stop restart")

# Options of one letter and their long spelling, for any program…
LONG_TO_LETTER = {
    "--recursive": "r",
    "--force": "f",
    "--all": "a",
    "--interactive": "i",
    "--verbose": "v",
    "--delete": "d",
    "--quiet": "q",
    "--yes": "y",
}
# …and those that are true of one command only. A capital may stand for several (`git branch -D`).
COMMAND_LONG_TO_LETTER = {
    "git commit": {"--no-verify": "n", "--message": "m", "--amend": ""},
    "git add": {"--all": "A", "--update": "u", "--patch": "p"},
    "git branch": {"--move": "m", "--copy": "c"},
    "git checkout": {"--branch": "b"},
    "git push": {"--set-upstream": "u", "--dry-run": "n"},
    "git clean": {"--dry-run": "n"},
    "git tag": {"--sign": "s", "--annotate": "a"},
    "git switch": {"--create": "c", "--force-create": "C", "--discard-changes": "f"},
    "npm install": {"--global": "g", "--save-dev": "D", "--save": "S"},
    "npm uninstall": {"--global": "g"},
    "pnpm add": {"--global": "g", "--save-dev": "D"},
    "yarn add": {"--dev": "D"},
    "pip install": {"--upgrade": "U", "--requirement": "r", "--editable": "e"},
    "docker run": {"--detach": "d", "--tty": "t"},
    "docker compose": {"--detach": "d", "--volumes": "v"},
    "docker rm": {"--volumes": "v"},
    "kubectl delete": {"--namespace": "n", "--filename": "f", "--selector": "l", "--all": ""},
    "kubectl apply": {"--namespace": "n", "--filename": "f", "--kustomize": "k"},
    "sed": {"--in-place": "i"},
    "cp": {"--archive": "a"},
    "curl": {"--insecure": "k", "--output": "o", "--request": "X", "--data": "d"},
    "rsync": {"--delete": "", "--archive": "a"},
    "tar": {"--extract": "x", "--create": "c", "--file": "f"},
    "psql": {"--command": "c"},
}
# One letter that means two: `git branch -D` is `--delete --force`.
LETTER_EXPANSIONS = {
    "git branch": {"D": "df", "M": "mf", "C": "cf"},
    "rm": {"R": "r"},
    "cp": {"R": "r"},
    "grep": {"R": "r"},
}
# Their single-dash options are whole words, never clusters of letters.
SINGLE_DASH_PROGRAMS = words(
    "find terraform tofu vault java javac go gcc g++ clang clang++ ld xcodebuild ffmpeg ffprobe"
    " openssl convert magick mvn ant ip qemu-system-x86_64 keytool fdupes msbuild dotnet"
)
# Their long options may be cut short (getopt_long, git's parse-options).
ABBREVIATING_PROGRAMS = words(
    "git rm cp mv ln chmod chown chgrp mkdir rmdir touch tar dd sed grep sort shred truncate"
    " kill useradd userdel usermod shutdown wget rsync xargs"
)

# Commands that ask about a program instead of running it.
QUERY_PROGRAMS = words("type which hash man whereis apropos whatis info tldr help where")

# §6: shell plumbing and filters name no work of their own while something else does.
FILTERS = words(
    ". : [ [[ activate awk cat cd clear cut date declare echo egrep exit export false fgrep grep"
    " head less local more popd printf pushd pwd read return rg sed set shift shopt sleep sort"
    " source tail tee test time tr trap true type typeset ulimit umask uniq unset wait wc which"
    " set-location write-host write-output push-location pop-location select-object where-object"
    " out-null out-file out-string get-content"
)
# PowerShell's own names for its file commands (Get-Alias), as a further key.
POWERSHELL_ALIASES = {
    **dict.fromkeys("rm ri del erase rd rmdir".split(), "remove-item"),
    **dict.fromkeys("mv mi move".split(), "move-item"),
    **dict.fromkeys("cp cpi copy".split(), "copy-item"),
    **dict.fromkeys("kill spps".split(), "stop-process"),
    **dict.fromkeys("iwr curl wget".split(), "invoke-webrequest"),
    "irm": "invoke-restmethod",
    "sc": "set-content",
    "clc": "clear-content",
    "ni": "new-item",
}
# An interpreter is named by the script it runs.
SCRIPT_INTERPRETERS = words("python node ruby perl deno php ts-node tsx lua rscript julia")
