// class: network
// tiers: kernel docker
package main

import (
	"fmt"
	"net"
	"time"
)

func main() {
	held := true
	for _, where := range []string{"127.0.0.1:22", "127.0.0.1:8000", "169.254.169.254:80", "1.1.1.1:53"} {
		if _, err := net.DialTimeout("tcp", where, 200*time.Millisecond); err == nil {
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
