// class: resources
// memory: 512
package main

import (
	"fmt"
)

func main() {
	var all [][]byte
	for {
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = 1
		}
		all = append(all, block)
		if len(all) < 0 {
			fmt.Println(all)
		}
	}
}
