package main

import (
	"fmt"
	"os"
)

func main() {
	var n, m int
	fmt.Scan(&n)
	file, _ := os.CreateTemp("", "number")
	fmt.Fprintln(file, 2*n)
	file.Seek(0, 0)
	fmt.Fscan(file, &m)
	fmt.Println(m)
}
