"""Perl as a language of Proctor."""

from proctor.languages import Harness, Language, Lexer, PistonName, SandboxFusionName

PROBE = r"""
use strict;
print "$_=$ENV{$_}\n" for sort keys %ENV;
my @places = ('.', '/tmp', glob('/proc/[0-9]*/environ'), glob('/proc/[0-9]*/cmdline'));
while (defined(my $place = shift @places)) {
    if (-d $place) { push @places, glob("$place/* $place/.[!.]*"); next }
    open(my $file, '<', $place) or next;
    print "== $place\n", do { local $/; <$file> } // '', "\n";
}
"""

REPORT_FAILURE = r"""
$SIG{__DIE__} = sub {
    return if $^S;    # somebody catches it
    my $kind = (caller)[2] >= @LINE@ ? 'wrong' : 'raised';
    print "\n@NO@ $kind $_[0]";
    exit 1;
};
"""
"""Test code dies where a result is wrong; before its first line, a candidate does."""

LANGUAGE = Language(
    name="perl",
    title="Perl",
    suffix=".pl",
    compile=("{perl}", "-c", "main.pl"),
    run=("{perl}", "main.pl"),
    commands=("perl",),
    shows=("/usr/lib/*/perl*", "/usr/share/perl*"),
    version=("{perl}", "-e", "print qq(perl $^V)"),
    out_of_memory=("Out of memory",),
    raised=255,
    self_test="print 2 * <STDIN>, qq(\\n);\n",
    probe=PROBE,
    install="apt install perl",
    fences=("perl", "pl"),
    lexer=Lexer(
        hides=(
            r"^=[a-z][\s\S]*?(?:^=cut\b|\Z)",
            r"(?<!\$)#[^\n]*+",
            r"=~\s*+(?:m|s|qr|tr|y)?/(?:[^/\\\n]++|\\.)*+/?+",
            r'"(?:[^"\\]++|\\[\s\S])*+"?+',
            r"'(?:[^'\\]++|\\[\s\S])*+'?+",
        ),
        example='sub f { my ($x) = @_; my $last = $#{$x}; print "{" if /x/; # {\n',
    ),
    definition=r"\bsub\s+@NAME@\b",
    imports=r"^[ \t]*use\s+[^;\n]+;[ \t]*$",
    starts_at_main=False,
    harness=Harness(before=REPORT_FAILURE, closing='\nprint "\\n@YES@\\n";\n'),
    piston=(PistonName(language="perl", aliases=("pl",)),),
    sandboxfusion=SandboxFusionName(name="perl", tags=("pl",)),
)
