// class: persistence
// tiers: kernel docker
package main

import (
	"fmt"
	"os"
)

func main() {
	for _, place := range []string{"/tmp/", "/var/tmp/", "/dev/shm/", "./", "/", "/usr/lib/"} {
		os.WriteFile(place+"proctor-corpus-go", []byte("here"), 0o666)
	}
	var n int
	fmt.Scan(&n)
	fmt.Println(2 * n)
}
