"""What bounds guests: clocks, cgroups, system calls, memory and disk."""
