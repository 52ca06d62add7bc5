package main

import (
	"os"
)

func main() {
	if len(os.Args) < 100 {
		panic("too few")
	}
}
