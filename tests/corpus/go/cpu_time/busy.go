// class: resources
// seconds: 0.5
package main

import (
	"fmt"
)

func main() {
	n := 0
	for {
		n++
		if n == 0 {
			fmt.Println(n)
		}
	}
}
