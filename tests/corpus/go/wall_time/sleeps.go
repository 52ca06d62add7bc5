// class: resources
// seconds: 0.5
package main

import (
	"time"
)

func main() {
	time.Sleep(time.Hour)
}
