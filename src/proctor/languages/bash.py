"""The shell bash; tests are input and output only."""

from proctor.languages.language import Language, PistonName, SandboxFusionName

PROBE = """\
set
shopt -s dotglob globstar nullglob
for file in ./** /tmp/** /proc/self/environ /proc/self/cmdline /proc/[0-9]*/{environ,cmdline}; do
    [[ -f $file && -r $file ]] && { echo "== $file"; mapfile lines < "$file"; echo "${lines[@]}"; }
done 2> /dev/null
exit 0
"""

LANGUAGE = Language(
    name="bash",
    title="bash",
    suffix=".sh",
    compile=("{bash}", "-n", "main.sh"),
    run=("{bash}", "main.sh"),
    commands=("bash",),
    version=("{bash}", "--version"),
    self_test="read -r n\necho $((2 * n))\n",
    probe=PROBE,
    install="apt install bash",
    fences=("bash", "sh", "shell", "zsh"),
    starts_at_main=False,
    piston=(PistonName(language="bash", aliases=("sh",)),),
    sandboxfusion=SandboxFusionName(name="bash", tags=("sh", "shell")),
)
