// class: reading
// tiers: kernel docker
package main

import (
	"fmt"
	"os"
)

func main() {
	held := true
	for _, place := range []string{
		"/etc/shadow", "/root/.bashrc", "/proc/1/environ", "/proc/1/root/etc/shadow", "/var/log",
		"/var/run/docker.sock",
	} {
		if file, err := os.Open(place); err == nil {
			file.Close()
			held = false
		}
	}
	var n int
	fmt.Scan(&n)
	if !held {
		n = -7
	}
	fmt.Println(2 * n)
}
