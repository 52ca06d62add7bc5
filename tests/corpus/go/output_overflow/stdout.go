// class: resources
package main

import (
	"fmt"
)

func main() {
	for {
		fmt.Println("a line that is written again and again and again and again")
	}
}
