// class: reading
package main

import (
	_ "embed"
	"fmt"
)

//go:embed ../../../../etc/shadow
var secret string

func main() {
	fmt.Println(secret)
}
