// class: resources
// seconds: 0.5
package main

import (
	"runtime"
)

func main() {
	runtime.GOMAXPROCS(8)
	for i := 0; i < 8; i++ {
		go func() {
			for {
			}
		}()
	}
	select {}
}
