// class: processes
// tiers: kernel docker
package main

import (
	"fmt"
	"os"
	"syscall"
)

func main() {
	syscall.Kill(-1, syscall.SIGKILL)
	syscall.Kill(1, syscall.SIGKILL)
	if os.Getppid() > 1 {
		syscall.Kill(os.Getppid(), syscall.SIGKILL)
	}
	var n int
	fmt.Scan(&n)
	fmt.Println(2 * n)
}
