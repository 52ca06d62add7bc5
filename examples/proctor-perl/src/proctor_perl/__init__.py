"""Perl for Proctor, and a small benchmark in it."""

from pathlib import Path

from proctor.benchmarks import tasks_file
from proctor.benchmarks.source import Declaration, Source
from proctor.languages.language import Language

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

PERL = Language(
    name="perl",
    title="Perl",
    suffix=".pl",
    compile=("{perl}", "-c", "main.pl"),
    run=("{perl}", "main.pl"),
    commands=("perl",),
    shows=("/usr/lib/*/perl*", "/usr/share/perl*"),
    version=("{perl}", "-e", "print qq(perl $^V)"),
    out_of_memory=("Out of memory",),
    self_test="print 2 * <STDIN>, qq(\\n);\n",
    probe=PROBE,
    install="apt install perl",
)

BASICS = Source(
    name="perl-basics",
    summary="6 small programs in Perl",
    tasks=6,
    file=str(Path(__file__).with_name("tasks.toml")),
    licence="MIT",
    read=tasks_file.read,
    declares=Declaration(difficulty={"easy": (0.4, 0.8), "medium": (0.2, 0.6)}),
)
